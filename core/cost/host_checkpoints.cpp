#include "core/cost/host_checkpoints.h"

#include <algorithm>

#include "core/cost/time_limits.h"

namespace plumbline {

Seconds copy_time(Bytes bytes, BytesPerSecond to_host) { return to_host.value() > 0 ? bytes / to_host : Seconds(0); }

void hold_on_host(BlockVariant& variant, std::int32_t tensor_parallel, BytesPerSecond to_host) {
  const Bytes part = variant.memory.saved / std::int64_t{tensor_parallel};
  variant.copied = part;
  variant.copies.forward = variant.copies.backward = phase_time(copy_time(part, to_host));
  variant.restored += variant.memory.saved;
  variant.memory.move_to_host(1);
}

BlockVariant offload_kept(const BlockCost& cost, std::int32_t tensor_parallel, BytesPerSecond to_host) {
  BlockVariant variant = cost.variant(Variant::kept);
  const Picoseconds copy = phase_time(copy_time(variant.memory.saved, to_host));
  variant.copies = {std::max(Picoseconds(0), copy - cost.forward.total()),
                    std::max(Picoseconds(0), copy - cost.backward.total())};
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
