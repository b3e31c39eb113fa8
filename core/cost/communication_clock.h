#pragma once
/// \file communication_clock.h: seconds of a collective over a group of ranks of a cluster (collective_time.h), by
/// size and stride, or by where the ranks sit.

#include "core/cost/collective_time.h"
#include "core/machine/cluster.h"
#include "core/plan/rank_group.h"

namespace plumbline {

class CommunicationClock {
 public:
  explicit CommunicationClock(const Cluster& cluster) : cluster_(cluster) {}

  /// `bytes` as collective_cost takes them. Groups of one rank take no time.
  [[nodiscard]] Seconds time(Collective kind, Bytes bytes, RankGroup group) const;
  [[nodiscard]] Seconds time(Collective kind, Bytes bytes, const GroupSpan& span) const;
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }

 private:
  Cluster cluster_;
};

}  // namespace plumbline
