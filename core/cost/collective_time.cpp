#include "core/cost/collective_time.h"

#include "core/cost/nccl_graph.h"
#include "core/cost/point_to_point.h"

namespace plumbline {

CollectiveCost collective_cost(Collective kind, Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  if (span.ranks < 2 || bytes <= Bytes(0)) return {Seconds(0), "none", "none"};
  if (kind == Collective::send_receive) return {send_receive_time(bytes, span, cluster), "p2p", "simple"};
  if (kind == Collective::all_to_all) return {all_to_all_time(bytes, span, cluster), "p2p", "simple"};
  const nccl::Choice choice = nccl::choose(kind, bytes, nccl::communicator(span, cluster));
  return {Seconds(choice.time_us * 1e-6), nccl::algorithm_names[static_cast<std::size_t>(choice.algorithm)],
          nccl::protocol_names[static_cast<std::size_t>(choice.protocol)]};
}

}  // namespace plumbline
