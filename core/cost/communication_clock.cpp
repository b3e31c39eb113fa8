#include "core/cost/communication_clock.h"

namespace plumbline {

Seconds CommunicationClock::time(Collective kind, Bytes bytes, RankGroup group) const {
  if (group.size <= 1 || bytes.value() <= 0) return Seconds(0);
  return time(kind, bytes, group_span(group.size, group.stride, cluster_));
}

Seconds CommunicationClock::time(Collective kind, Bytes bytes, const GroupSpan& span) const {
  return collective_cost(kind, bytes, span, cluster_).time;
}

}  // namespace plumbline
