#include "core/cost/host_checkpoints.h"

#include <algorithm>

#include "core/cost/time_limits.h"

namespace plumbline {
namespace {

/// A device without a bus is its own host: nothing is copied.
Seconds copy_time(Bytes bytes, BytesPerSecond to_host) { return to_host.value() > 0 ? bytes / to_host : Seconds(0); }

}  // namespace

void hold_on_host(BlockVariant& variant, std::int32_t tensor_parallel, BytesPerSecond to_host) {
  const Bytes part = variant.saved / std::int64_t{tensor_parallel};
  add_phase(variant.recompute.compute, phase_time(2.0 * copy_time(part, to_host)));
  WorkingSets& working = variant.working;
  for (Bytes* set : {&working.forward, &working.backward, &working.backward_input}) *set += variant.saved;
  working.deferred += working.saved_for_weight;
  working.saved_for_weight = Bytes(0);
  variant.restored += variant.saved;
  variant.on_host = variant.saved;
  variant.saved = Bytes(0);
}

BlockVariant offload_kept(const BlockCost& cost, std::int32_t tensor_parallel, BytesPerSecond to_host) {
  BlockVariant variant = cost.variant(Variant::kept);
  const Picoseconds copy = phase_time(copy_time(variant.saved, to_host));
  variant.recompute.compute =
      std::max(Picoseconds(0), copy - cost.forward.total()) + std::max(Picoseconds(0), copy - cost.backward.total());
  WorkingSets& working = variant.working;
  for (Bytes* set : {&working.forward, &working.backward, &working.backward_input}) *set += variant.saved;
  working.deferred += working.saved_for_weight;
  working.saved_for_weight = Bytes(0);
  variant.restored = variant.saved;
  variant.on_host = std::int64_t{tensor_parallel} * variant.saved;
  variant.saved = Bytes(0);
  return variant;
}

BytesPerSecond slowest_to_host(const Cluster& cluster) {
  BytesPerSecond slowest = cluster.groups.front().node.pcie_bandwidth.value;
  for (const NodeGroup& group : cluster.groups) slowest = std::min(slowest, group.node.pcie_bandwidth.value);
  return slowest;
}

}  // namespace plumbline
