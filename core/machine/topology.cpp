#include "core/machine/topology.h"

#include <algorithm>
#include <numeric>

namespace plumbline {
namespace {

/// The first level under which every group finds all of its ranks, else the last.
void add_levels(GroupSpan& span, std::int64_t stride, const Cluster& cluster, std::int64_t node_devices) {
  for (const NetworkLevel& level : cluster.fabric.levels) {
    ++span.level;
    span.oversubscription = std::max(span.oversubscription, level.oversubscription.value);
    span.level_latency += level.latency.value;
    if (boxes_touched(span.ranks, stride, level.nodes_per_group * node_devices) == 1) return;
    if (level.nodes_per_group >= node_count(cluster)) return;
  }
}

}  // namespace

std::int64_t boxes_touched(std::int64_t size, std::int64_t stride, std::int64_t box) {
  if (stride >= box) return size;  // no two neighbours share a box
  // A group starts at block * size * stride + offset, offset in [0, stride): the starts modulo the box are multiples
  // of the common divisor plus an offset. The one that starts deepest in its box touches most.
  const std::int64_t common = std::gcd(size * stride, box);
  const std::int64_t deepest = stride >= common ? box - 1 : box - common + stride - 1;
  return (deepest + (size - 1) * stride) / box + 1;
}

GroupSpan group_span(std::int32_t size, std::int32_t stride, const Cluster& cluster) {
  size = std::max(size, 1);
  stride = std::max(stride, 1);
  const std::int64_t world = device_count(cluster);
  GroupSpan span;
  span.ranks = size;
  span.node_devices = static_cast<std::int32_t>(std::min<std::int64_t>(domain_devices(cluster), world));
  if (world > span.node_devices) span.nodes = static_cast<std::int32_t>(boxes_touched(size, stride, span.node_devices));
  span.ranks_per_node = (size + span.nodes - 1) / span.nodes;
  if (span.nodes == 1) return span;
  span.sharing_groups = std::max(1.0, static_cast<double>(span.node_devices) * span.nodes / size);
  const std::int64_t server_devices = cluster.groups.empty() ? 1 : limiting_node(cluster).devices;
  add_levels(span, stride, cluster, server_devices);
  return span;
}

}  // namespace plumbline
