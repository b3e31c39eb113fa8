#include "core/machine/topology.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace plumbline {
namespace {

/// The first level under which every group finds all of its ranks, else the last. `is_inside(box)`: whether it finds
/// them among so many devices.
template <class IsInside>
void add_levels(GroupSpan& span, const Cluster& cluster, IsInside is_inside) {
  const std::int64_t server_devices = cluster.groups.empty() ? 1 : limiting_node(cluster).devices;
  for (const NetworkLevel& level : cluster.fabric.levels) {
    ++span.level;
    span.oversubscription = std::max(span.oversubscription, level.oversubscription.value);
    span.level_latency += level.latency.value;
    if (is_inside(level.nodes_per_group * server_devices)) return;
    if (level.nodes_per_group >= node_count(cluster)) return;
  }
}

std::int32_t devices_of_domain(const Cluster& cluster) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(domain_devices(cluster), device_count(cluster)));
}

/// Groups of `size` ranks `stride` apart over boxes of consecutive ranks that they straddle.
class Straddling {
 public:
  Straddling(std::int64_t size, std::int64_t stride, std::int64_t box)
      : size_(size), stride_(stride), block_(size * stride), box_(box) {}

  void count_into(GroupSpan& span) const {
    span.sharing_groups = 1;
    span.crossing_pairs = 0;
    std::int64_t least = size_;
    const std::int64_t period = block_ / std::gcd(block_, box_);
    for (std::int64_t i = 0; i < period; ++i) {
      const std::int64_t begin = i * box_;
      std::int64_t groups = 0;
      for (std::int64_t block = begin / block_; block * block_ < begin + box_; ++block) {
        const std::int64_t from = std::max<std::int64_t>(0, begin - block * block_);
        const std::int64_t to = std::min(block_, begin + box_ - block * block_);
        if (to - from == block_) continue;  // all of its groups stay inside
        groups += crossing(from, to);
        for (const std::int64_t held : {(to - from) / stride_, (to - from + stride_ - 1) / stride_}) {
          if (held == 0 || held == size_) continue;
          least = std::min(least, held);
          span.crossing_pairs = std::max(span.crossing_pairs, held * (size_ - held));
        }
      }
      span.sharing_groups = std::max(span.sharing_groups, static_cast<std::int32_t>(groups));
    }
    span.least_ranks_per_node = static_cast<std::int32_t>(least);
  }

 private:
  /// Groups with ranks inside the part [from, to) of their block and outside of it.
  [[nodiscard]] std::int64_t crossing(std::int64_t from, std::int64_t to) const {
    const std::int64_t whole = std::max<std::int64_t>(0, stride_ - from - (block_ - to));
    return std::min(stride_, to - from) - whole;
  }

  std::int64_t size_;
  std::int64_t stride_;
  std::int64_t block_;
  std::int64_t box_;
};

/// What of [first, first + count) one box holds at most.
std::int64_t most_in_a_box(std::int64_t first, std::int64_t count, std::int64_t box) {
  const std::int64_t head = std::min(count, box - first % box);
  return std::max(head, std::min(count - head, box));
}

/// Of the ranks [first, first + count), which send to those `distance` behind, the most that leave or enter one box.
/// Requires count <= distance.
std::int64_t most_over_an_edge(std::int64_t first, std::int64_t count, std::int64_t distance, std::int64_t box) {
  if (distance >= box) return std::max(most_in_a_box(first, count, box), most_in_a_box(first + distance, count, box));
  // They lie in two boxes at most, and all that leave one enter the next.
  std::int64_t most = 0;
  for (std::int64_t end = (first / box + 1) * box; end - box < first + count; end += box)
    most = std::max(most, std::min(first + count, end) - std::max(first, end - distance));
  return most;
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
  GroupSpan span;
  span.ranks = size;
  span.node_devices = devices_of_domain(cluster);
  if (device_count(cluster) > span.node_devices)
    span.nodes = static_cast<std::int32_t>(boxes_touched(size, stride, span.node_devices));
  span.ranks_per_node = (size + span.nodes - 1) / span.nodes;
  span.least_ranks_per_node = span.ranks_per_node;
  if (span.nodes == 1) return span;
  if (std::int64_t{size} * stride % span.node_devices == 0) {
    span.sharing_groups = std::min(stride, span.node_devices);
    span.least_ranks_per_node = std::max(1, span.node_devices / stride);
    span.crossing_pairs = std::int64_t{span.ranks_per_node} * (size - span.ranks_per_node);
  } else {
    Straddling(size, stride, span.node_devices).count_into(span);
  }
  add_levels(span, cluster, [&](std::int64_t devices) { return boxes_touched(size, stride, devices) == 1; });
  return span;
}

GroupSpan stages_span(std::int64_t stage_ranks, std::int32_t stage, std::int32_t other, const Cluster& cluster) {
  const std::int64_t count = std::max<std::int64_t>(1, stage_ranks);
  const std::int64_t first = std::min(stage, other) * count;
  const std::int64_t distance = std::abs(std::int64_t{stage} - other) * count;
  GroupSpan span;
  span.ranks = span.ranks_per_node = span.least_ranks_per_node = 2;
  span.node_devices = devices_of_domain(cluster);
  const std::int64_t over_edge = most_over_an_edge(first, count, distance, span.node_devices);
  if (distance == 0 || device_count(cluster) <= span.node_devices || over_edge <= 0) return span;
  span.nodes = 2;
  span.ranks_per_node = span.least_ranks_per_node = 1;
  span.crossing_pairs = 1;
  span.sharing_groups = static_cast<std::int32_t>(over_edge);
  add_levels(span, cluster,
             [&](std::int64_t devices) { return most_over_an_edge(first, count, distance, devices) <= 0; });
  return span;
}

}  // namespace plumbline
