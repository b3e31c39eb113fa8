#include "core/cost/point_to_point.h"

#include <algorithm>
#include <cmath>

#include "core/cost/nccl_graph.h"

namespace plumbline {
namespace {

constexpr double intra_latency_us = 5;
constexpr double inter_latency_us = 14;
constexpr std::int32_t peers_at_once = 8;
constexpr double gbps = 1e9;

double latency_us(const GroupSpan& span) {
  return span.crosses_network() ? inter_latency_us + span.level_latency.value() * 1e6 : intra_latency_us;
}

}  // namespace

PeerTime send_receive_time(Bytes message, const GroupSpan& span, const Cluster& cluster) {
  if (span.ranks < 2) return {};
  const Node& node = limiting_node(cluster);
  double rate = nccl::intra_gbps(node, 2);
  if (span.crosses_network()) {
    const double nics = node.network ? node.network->count : 0;
    const double own = node.network_bandwidth().value() / gbps * nccl::net_share / std::max(1.0, nics) *
                       std::max(1.0, nics / node.devices);
    rate = std::min(nccl::inter_gbps(span, node), own);
  }
  return {Seconds(latency_us(span) * 1e-6), message / BytesPerSecond(rate * gbps)};
}

PeerTime all_to_all_time(Bytes bytes, const GroupSpan& span, const Cluster& cluster) {
  if (span.ranks < 2) return {};
  const Node& node = limiting_node(cluster);
  const double share = static_cast<double>(bytes.value()) / span.ranks;  // for one peer
  double time = share * (span.ranks_per_node - 1) / (nccl::intra_gbps(node, span.ranks_per_node) * gbps);
  if (span.crosses_network()) {
    const double node_rate = nccl::inter_gbps(span, node) * gbps;
    time = std::max(time, share * static_cast<double>(span.crossing_pairs) / node_rate);
  }
  const int rounds = (span.ranks - 1 + peers_at_once - 1) / peers_at_once;
  return {Seconds(rounds * latency_us(span) * 1e-6), Seconds(time)};
}

double share_sent_once(double chosen, const GroupSpan& span) {
  const double places = span.crosses_network() ? span.nodes : span.ranks;
  return places * (1 - std::pow(1 - 1 / places, chosen)) / chosen;
}

}  // namespace plumbline
