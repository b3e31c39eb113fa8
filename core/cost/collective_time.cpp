#include "core/cost/collective_time.h"

#include "core/cost/nccl_graph.h"
#include "core/cost/point_to_point.h"

namespace plumbline {
namespace {

LinkFactor bandwidth_factor(nccl::Algorithm algorithm, bool crosses_network) {
  switch (algorithm) {
    case nccl::Algorithm::nvls: return LinkFactor::node_in_switch_bandwidth;
    case nccl::Algorithm::nvls_tree: return LinkFactor::network_in_switch_bandwidth;
    case nccl::Algorithm::ring:
    case nccl::Algorithm::tree:
    case nccl::Algorithm::pat: break;
  }
  return crosses_network ? LinkFactor::network_bandwidth : LinkFactor::node_bandwidth;
}

}  // namespace

CollectiveParts collective_parts(Collective kind, Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  const bool crosses = span.crosses_network();
  CollectiveParts parts;
  parts.latency_factor = crosses ? LinkFactor::network_latency : LinkFactor::node_latency;
  parts.bandwidth_factor = crosses ? LinkFactor::network_peer_bandwidth : LinkFactor::node_peer_bandwidth;
  if (span.ranks < 2 || bytes <= Bytes(0)) return parts;
  if (kind == Collective::send_receive || kind == Collective::all_to_all) {
    const PeerTime time = kind == Collective::send_receive ? send_receive_time(bytes, span, cluster)
                                                           : all_to_all_time(bytes, span, cluster);
    parts.latency = time.latency;
    parts.transfer = time.transfer;
    parts.algorithm = "p2p";
    parts.protocol = "simple";
    return parts;
  }
  const nccl::Choice choice = nccl::choose(kind, bytes, nccl::communicator(span, cluster));
  parts.latency = Seconds(choice.time.latency_us * 1e-6);
  parts.transfer = Seconds(choice.time.transfer_us * 1e-6);
  parts.bandwidth_factor = bandwidth_factor(choice.algorithm, crosses);
  parts.algorithm = nccl::algorithm_names[static_cast<std::size_t>(choice.algorithm)];
  parts.protocol = nccl::protocol_names[static_cast<std::size_t>(choice.protocol)];
  return parts;
}

CollectiveCost collective_cost(Collective kind, Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  const CollectiveParts parts = collective_parts(kind, bytes, span, cluster);
  const LinkFactors& factors = cluster.link_factors;
  return {parts.latency * factors[parts.latency_factor] + parts.transfer * (1 / factors[parts.bandwidth_factor]),
          parts.algorithm, parts.protocol};
}

}  // namespace plumbline
