#pragma once
/// \file host_checkpoints.h: a block whose checkpoint waits in host memory, in bytes and seconds of one rank.
///
/// Model: what a variant keeps leaves the device after the forward and comes back before the replay. Tensor-parallel
/// ranks hold the same and copy a part each. Nothing runs alongside a copy; what the acting block has of it on the
/// device is part of its working set. Activations that are offloaded without a replay (offloaded_kept) leave alongside
/// the forward of the block behind and come back alongside the backward before theirs: only what a copy takes longer
/// than the block shows, and what is copied lives next to the acting block (MemoryProfile::in_transit).
/// Source: Transformer Engine, cpu_offload.py (a forward waits for the copy of the one before the last); for
/// checkpoints DeepSpeed,
/// runtime/activation_checkpointing (partition_activations, cpu_checkpointing). Not modelled: gathering the parts over
/// the tensor-parallel ranks; memory that the host pins alongside them. Checked against:
/// tests/reference/framework_memory_test.cpp (by hand); the published ZeRO-3 runs on V100 fit with it but for one.

#include "core/cost/block_sizes.h"

namespace plumbline {

/// Until bytes have gone to the host, or come back. A device without a bus is its own host: nothing is copied.
[[nodiscard]] Seconds copy_time(Bytes bytes, BytesPerSecond to_host);
/// What `kept` keeps, on the host.
[[nodiscard]] VariantSizes offloaded_kept(const BlockSizes& block, std::int32_t tensor_parallel);
void hold_on_host(VariantSizes& variant, std::int32_t tensor_parallel);
/// Of the slowest device of a cluster.
[[nodiscard]] BytesPerSecond slowest_to_host(const Cluster& cluster);

}  // namespace plumbline
