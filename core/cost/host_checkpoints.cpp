#include "core/cost/host_checkpoints.h"

#include <algorithm>

namespace plumbline {

Seconds copy_time(Bytes bytes, BytesPerSecond to_host) { return to_host.value() > 0 ? bytes / to_host : Seconds(0); }

void hold_on_host(VariantSizes& variant, std::int32_t tensor_parallel) {
  variant.copied = variant.memory.saved / std::int64_t{tensor_parallel};
  variant.restored += variant.memory.saved;
  variant.memory.move_to_host(1);
}

VariantSizes offloaded_kept(const BlockSizes& block, std::int32_t tensor_parallel) {
  VariantSizes variant = block.variant(Variant::kept);
  variant.restored = variant.copied = variant.memory.in_transit = variant.memory.saved;
  variant.memory.move_to_host(tensor_parallel);
  return variant;
}

BytesPerSecond slowest_to_host(const Cluster& cluster) {
  BytesPerSecond slowest = cluster.groups.front().node.pcie_bandwidth.value;
  for (const NodeGroup& group : cluster.groups) slowest = std::min(slowest, group.node.pcie_bandwidth.value);
  return slowest;
}

}  // namespace plumbline
