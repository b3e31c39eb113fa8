#include "core/cost/nccl_graph.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace plumbline::nccl {
namespace {

Generation generation(DeviceArchitecture architecture) {
  switch (architecture) {
    case DeviceArchitecture::volta:
    case DeviceArchitecture::turing: return Generation::volta;
    case DeviceArchitecture::hopper: return Generation::hopper;
    case DeviceArchitecture::blackwell: return Generation::blackwell;
    case DeviceArchitecture::ampere:
    case DeviceArchitecture::ada:
    case DeviceArchitecture::cdna2:
    case DeviceArchitecture::cdna3:
    case DeviceArchitecture::cdna4:
    case DeviceArchitecture::cpu: return Generation::ampere;
  }
  return Generation::ampere;
}

std::span<const double> intra_ladder(Generation g) {
  if (g == Generation::hopper) return ladder_intra_hopper;
  if (g == Generation::blackwell) return ladder_intra_blackwell;
  return ladder_intra;
}

/// Share of the datasheet's rate that NCCL or RCCL counts on.
double link_share(const Node& node) {
  switch (node.interconnect.kind) {
    case InterconnectKind::nvlink_switch:
    case InterconnectKind::nvlink_mesh:
      return nvlink_share[static_cast<std::size_t>(generation(node.device.architecture))];
    case InterconnectKind::pcie: return pcie_share;
    case InterconnectKind::xgmi:
      return node.device.architecture == DeviceArchitecture::cdna2 ? xgmi_share_cdna2 : xgmi_share_cdna3;
    case InterconnectKind::shared_memory: return 1;
  }
  return 1;
}

bool is_mesh(InterconnectKind kind) { return kind == InterconnectKind::nvlink_mesh || kind == InterconnectKind::xgmi; }

/// Splits channels that are worth two (ncclTopoDupChannels).
Graph with_split_channels(Graph graph, Generation g) {
  if (graph.intra_gbps < split_from) return graph;
  const bool is_late = g == Generation::hopper || g == Generation::blackwell;
  if (is_late && graph.intra_gbps < split_from_hopper && graph.channels > split_up_to_channels_hopper) return graph;
  const int channels = std::min(2 * graph.channels, most_channels);
  const double share = static_cast<double>(graph.channels) / channels;
  return {channels, graph.intra_gbps * share, graph.inter_gbps * share};
}

/// The most bandwidth that a whole number of channels of one ladder speed takes from `gbps`; ties to the fastest.
Graph intra_ring(double gbps, Generation g) {
  Graph best{1, gbps, gbps};
  double most = 0;
  for (const double speed : intra_ladder(g)) {
    const int channels = std::min(most_channels, static_cast<int>(gbps / speed));
    if (channels * speed <= most) continue;
    most = channels * speed;
    best = {channels, speed, speed};
  }
  return with_split_channels(best, g);
}

double domain_nics(const GroupSpan& span, const Node& node) {
  return (node.network ? node.network->count : 1) * (static_cast<double>(span.node_devices) / node.devices);
}

/// Of a domain's NICs one group has its share at most, and no more than its ranks there have.
double groups_on_nics(const GroupSpan& span, const Node& node) {
  const double of_ranks = span.least_ranks_per_node * std::max(1.0, domain_nics(span, node) / span.node_devices);
  return std::max<double>(span.sharing_groups, domain_nics(span, node) / of_ranks);
}

Graph inter_ring(const GroupSpan& span, const Node& node, Generation g) {
  const double network = inter_gbps(span, node);
  double total = network;
  const double ppn = span.ranks_per_node;
  if (ppn > 1) {
    // Of every channel one rank's NVLink rests, where the ring leaves the node: 8 x 48 fit on 370.8 GB/s. PCI Express
    // carries the NIC's traffic too and does not rest.
    const bool rests = node.interconnect.kind != InterconnectKind::pcie;
    total = std::min(total, intra_gbps(node, span.ranks_per_node) * (rests ? ppn / (ppn - 1) : 1));
  }
  const double fastest = g == Generation::blackwell ? fastest_inter_channel_blackwell : fastest_inter_channel;
  const double wanted =
      std::max(std::ceil(domain_nics(span, node) / groups_on_nics(span, node)), std::ceil(network / fastest));
  const int channels = static_cast<int>(std::clamp<double>(wanted, 1, most_channels));
  return with_split_channels({channels, total / channels, total / channels}, g);
}

/// Every rank is the head of one channel and takes part in all others: (channels + 1) speeds on its links.
Graph nvls_graph(const GroupSpan& span, const Node& node, Generation g) {
  if (node.interconnect.kind != InterconnectKind::nvlink_switch || nvls_efficiency[static_cast<std::size_t>(g)] == 0)
    return {};
  const std::span<const double> ladder = intra_ladder(g);
  const int channels = std::min(span.ranks_per_node, most_channels);
  const double most = intra_gbps(node, span.ranks_per_node) / (channels + 1);
  auto rung = std::find_if(ladder.begin(), ladder.end(), [&](double speed) { return speed <= most; });
  if (channels < 2 || rung == ladder.end()) return {};
  const double intra = *rung;
  if (span.nodes > 1) {
    const double fastest = g == Generation::blackwell ? fastest_inter_channel_blackwell : fastest_inter_channel;
    return {channels, intra, std::min(inter_gbps(span, node) / channels, fastest)};
  }
  // The second pass of the search climbs the ladder for the network alone, which one node does not have.
  while (rung != ladder.begin() && *rung < 2 * intra) --rung;
  return {channels, intra, *rung};
}

}  // namespace

double intra_gbps(const Node& node, std::int32_t ranks_per_node) {
  const Interconnect& links = node.interconnect;
  double gbps = links.bandwidth.value.value() * 1e-9 * link_share(node);
  if (is_mesh(links.kind) && links.domain_devices > 1) {
    const double per_peer = std::ceil(static_cast<double>(links.links) / (links.domain_devices - 1));
    gbps *= std::min(1.0, per_peer * std::max(ranks_per_node - 1, 1) / links.links);
  }
  return gbps;
}

double inter_gbps(const GroupSpan& span, const Node& node) {
  const double nodes_in_domain = static_cast<double>(span.node_devices) / node.devices;
  return node.network_bandwidth().value() * 1e-9 * net_share * nodes_in_domain /
         (groups_on_nics(span, node) * span.oversubscription);
}

Communicator communicator(const GroupSpan& span, const Cluster& cluster) {
  const Node& node = limiting_node(cluster);
  Communicator c;
  c.ranks = span.ranks;
  c.nodes = span.nodes;
  c.generation = generation(node.device.architecture);
  c.cpu_vendor = node.cpu_vendor;
  const bool is_slow_link =
      node.interconnect.kind == InterconnectKind::pcie || node.interconnect.kind == InterconnectKind::shared_memory;
  c.intra_link = is_slow_link ? LinkClass::pci : LinkClass::nvlink;
  const bool leaves_directly = span.nodes == 1 || (node.network && node.network->path == NicPath::direct);
  c.has_ll128 = (!is_slow_link || span.ranks_per_node == 1) && leaves_directly;
  c.inter_latency = span.level_latency.value() * 1e6;
  c.ring = span.nodes == 1 ? intra_ring(intra_gbps(node, span.ranks_per_node), c.generation)
                           : inter_ring(span, node, c.generation);
  c.nvls = nvls_graph(span, node, c.generation);
  c.link_gbps = intra_gbps(node, span.ranks_per_node);
  return c;
}

}  // namespace plumbline::nccl
