#include "core/cost/block_cost.h"

#include <algorithm>
#include <cmath>

#include "core/cost/block_times.h"
#include "core/cost/block_variants.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/optimizer_time.h"
#include "core/cost/overlap.h"
#include "core/cost/recompute_modules.h"
#include "core/cost/time_limits.h"

namespace plumbline {
namespace {

Picoseconds rounded(Seconds time, double factor) { return phase_time(factor * time); }

}  // namespace

BlockGroups block_groups(const Strategy& s) {
  return {rank_group(s, Axis::tensor), rank_group(s, Axis::context), rank_group(s, Axis::expert),
          rank_group(s, Axis::expert_tensor)};
}

BlockPricer::BlockPricer(const Cluster& cluster, const Calibration& calibration)
    : kernels_(slowest_device(cluster), calibration), communication_(cluster), to_host_(slowest_to_host(cluster)) {}

Picoseconds BlockPricer::host_time(double kernels, double collectives) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  return phase_time(Seconds(kernels * stack.host_time_per_kernel_s + collectives * stack.host_time_per_collective_s));
}

namespace {

/// Maximum, sum and target logit of each token (kernels/cross_entropy.h; Megatron-LM's parallel loss).
constexpr std::int64_t loss_values_per_token = 3;

Bytes logit_bytes(const Block& block, const Shard& shard, double bytes_per_logit) {
  Bytes sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::cross_entropy) {
      const Tensor& logits = block.tensor(op.inputs.front());
      sum += Bytes(static_cast<std::int64_t>(bytes_per_logit * static_cast<double>(local_elements(logits, shard))));
      sum += storage(local_rows(logits, shard) * loss_values_per_token, NumberFormat::fp32);
    }
  return sum;
}

/// A block before all that is trained keeps nothing, and so runs nothing again.
bool runs_backward(const Block& block) {
  return std::any_of(block.outputs().begin(), block.outputs().end(),
                     [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; });
}

/// Where the host waits for the tokens per expert it cannot run ahead of the device: the pass takes what is longer.
void synchronise(BlockCost& cost, const Block& block, const StackCalibration& stack) {
  const auto dispatches = [](const Op& op) { return op.kind == OpKind::dispatch; };
  if (stack.expert_synchronisation <= 0 || std::none_of(block.ops().begin(), block.ops().end(), dispatches)) return;
  const Picoseconds waited = std::max(Picoseconds(0), cost.host_forward - cost.forward.total());
  cost.forward.compute += part(waited, stack.expert_synchronisation);
  cost.host_forward = std::max(cost.host_forward, cost.forward.total());
}

}  // namespace

void set_working_sets(BlockVariant& variant, const WorkingSetModel& model, RecomputeMode mode, Bytes working,
                      BackwardForm form) {
  variant.working = model.of({variant.replayed, mode, variant.kept}, form);
  variant.restored = std::max(Bytes(0), variant.working.backward - working);
}

BlockVariant BlockPricer::with_modules(const Times& times, const Block& block, const Shard& shard,
                                       const BlockGroups& groups, const BlockCost& cost) const {
  BlockVariant variant;
  variant.replayed = replayed_by_modules(block, shard.recomputed);
  if (std::none_of(variant.replayed.begin(), variant.replayed.end(), [](bool is) { return is; }))
    return cost.variant(Variant::kept);
  const double factor = kernels_.calibration().stack.step_factor;
  Times again = collectives_of(block, shard, groups, variant.replayed);
  double kernels = 0;
  for (std::size_t i = 0; i < variant.replayed.size(); ++i) {
    if (!variant.replayed[i]) continue;
    const OpId id = block.execution_order()[i];
    again.forward += times.op_forward[static_cast<std::size_t>(id.index())];
    kernels += times.op_kernels[static_cast<std::size_t>(id.index())];
    variant.flops += op_work(block, block.op(id), shard).forward;
  }
  variant.recompute = {rounded(again.forward, factor), rounded(again.tensor_forward, factor),
                       rounded(again.context_forward, factor), rounded(again.expert_forward, factor)};
  variant.wire = again.wire_forward;
  variant.host = host_time(kernels, again.collectives.forward);
  variant.saved = kept_bytes(block, shard, {variant.replayed, RecomputeMode::modules});
  set_working_sets(variant, WorkingSetModel(block, shard), RecomputeMode::modules,
                   cost.variant(Variant::kept).working.backward);
  return variant;
}

BlockCost BlockPricer::price(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  Times times;
  const KeptByOperator kept = kept_by_operator(block, shard);
  for (std::size_t op = 0; op < block.ops().size(); ++op) {
    const Seconds before = times.forward;
    const double kernels = times.kernels.forward;
    add_op(times, block, block.ops()[op], shard);
    times.replayed += (1 - kept.share[op]) * (times.forward - before);
    times.op_forward.push_back(times.forward - before);
    times.op_kernels.push_back(times.kernels.forward - kernels);
  }
  add_tensor_parallel(times, block, shard, groups);
  add_context_parallel(times, block, shard, groups);
  add_expert_parallel(times, block, shard, groups);

  const StackCalibration& stack = kernels_.calibration().stack;
  const double factor = stack.step_factor;
  BlockCost cost;
  cost.forward = {rounded(times.forward, factor), rounded(times.tensor_forward, factor),
                  rounded(times.context_forward, factor), rounded(times.expert_forward, factor)};
  cost.backward = {rounded(times.backward, factor), rounded(times.tensor_backward, factor),
                   rounded(times.context_backward, factor), rounded(times.expert_backward, factor)};
  cost.backward_weight = std::min(cost.backward.compute, rounded(times.backward_weight, factor));
  cost.host_forward = host_time(times.kernels.forward, times.collectives.forward);
  cost.host_backward = host_time(times.kernels.backward, times.collectives.backward);
  cost.transfer_synchronisation = stack.transfer_synchronisation;
  cost.pass_synchronisation = stack.pass_synchronisation;
  synchronise(cost, block, stack);
  cost.boundary = boundary_bytes(block, shard);
  if (block.needs_input_gradient()) cost.boundary_gradient = cost.boundary;
  cost.kept_output = Bytes(std::llround(stack.kept_outputs * static_cast<double>(cost.boundary.value())));
  cost.frees_logits = stack.freed_logits > 0;
  if (block.kind() != BlockKind::output)
    for (const TensorId id : block.outputs()) cost.output += local_bytes(block.tensor(id), shard);
  cost.logits = logit_bytes(block, shard, stack.logit_bytes);
  cost.wire = times.wire;
  cost.wire_forward = times.wire_forward;
  cost.parameters = rank_parameters(block, shard);
  cost.tensors = parameter_tensors(block, shard, stack.gathered_from_elements);
  cost.flops = block_flops(block, shard);
  if (shard.orthogonalises) cost.orthogonalisation = rounded(orthogonalisation_time(kernels_, block, shard), 1);
  AttentionReplay attention;
  attention.time.compute = rounded(times.attention, factor);
  const Times ring = collectives_of(block, shard, groups, attention_replay(block));
  attention.time.context_parallel = rounded(ring.context_forward, factor);
  attention.wire = ring.wire_forward;
  attention.host = host_time(times.attention_kernels, ring.collectives.forward);
  cost.variants = ruled_variants(block, shard, cost, attention);
  if (stack.host_checkpoints > 0 && block.kind() == BlockKind::layer)
    hold_on_host(cost.variants[Variant::full], shard.tensor_parallel, to_host_);
  const double replayed = times.forward.value() > 0 ? times.replayed / times.forward : 0;
  const Times again = collectives_of(block, shard, groups, kept.replay(block).replayed);
  const PhaseTime replay{part(cost.forward.compute, replayed), rounded(again.tensor_forward, factor),
                         rounded(again.context_forward, factor), rounded(again.expert_forward, factor)};
  cost.variants.push_back(by_operator(block, shard, cost, kept, {replay, again.wire_forward}));
  cost.variants.push_back(shard.recomputed.empty() ? cost.variant(Variant::kept)
                                                   : with_modules(times, block, shard, groups, cost));
  cost.variants.push_back(offload_kept(cost, shard.tensor_parallel, to_host_));
  if (!runs_backward(block)) std::fill(cost.variants.begin() + 1, cost.variants.end(), cost.variant(Variant::kept));
  cost.working = cost.variants[Variant::kept].working.backward;
  return cost;
}

}  // namespace plumbline
