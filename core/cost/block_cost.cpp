#include "core/cost/block_cost.h"

#include <algorithm>
#include <cmath>

#include "core/cost/attention_scratch.h"
#include "core/cost/autocast.h"
#include "core/cost/block_times.h"
#include "core/cost/chunked_head.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/optimizer_time.h"
#include "core/cost/overlap.h"
#include "core/cost/quantisation.h"
#include "core/cost/time_limits.h"
#include "core/sharding/logits.h"

namespace plumbline {
namespace {

Picoseconds rounded(Seconds time, double factor) { return phase_time(factor * time); }

}  // namespace

BlockGroups block_groups(const Strategy& s) {
  return {rank_group(s, Axis::tensor), rank_group(s, Axis::context), rank_group(s, Axis::expert),
          rank_group(s, Axis::expert_tensor), record_of(s.schedule).paired};
}

BlockPricer::BlockPricer(const Cluster& cluster, const Calibration& calibration)
    : kernels_(slowest_device(cluster), calibration),
      passes_(calibration.stack.features),
      communication_(cluster),
      to_host_(slowest_to_host(cluster)) {}

Picoseconds BlockPricer::host_time(double kernels, double collectives) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  return phase_time(
      Seconds(kernels * stack.host.host_time_per_kernel_s + collectives * stack.host.host_time_per_collective_s));
}

namespace {

/// Maximum, sum and target logit of each token (kernels/cross_entropy.h; Megatron-LM's parallel loss).
constexpr std::int64_t loss_values_per_token = 3;

/// Of a rank's logits, how many exist at once.
double living_share(const Block& block, TensorId logits, const Shard& shard, const StackFeatures& features) {
  if (features.head_products == HeadProducts::whole) return 1;
  const OpId head = block.producer(logits);
  if (!head.is_valid()) return 1;
  const OpWork work = op_work(block, block.op(head), shard);
  if (work.kind != WorkKind::product) return 1;
  return static_cast<double>(chunked_head(*work.product).rows) /
         static_cast<double>(std::max<std::int64_t>(1, work.product->batch * work.product->m));
}

/// Logits that live until their own backward ends take at least what a rank stores of them.
Bytes priced_logits(const Block& block, const Shard& shard, const StackCalibration& stack) {
  const double bytes_per_logit = stack.memory.logit_bytes;
  const bool are_held = stack.features.logits == LogitLifetime::own_backward;
  Bytes sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::cross_entropy) {
      const Tensor& logits = block.tensor(op.inputs.front());
      const double living = living_share(block, op.inputs.front(), shard, stack.features) *
                            static_cast<double>(local_elements(logits, shard));
      const Bytes priced(static_cast<std::int64_t>(bytes_per_logit * living));
      sum += are_held ? std::max(priced, logit_bytes(logits, shard)) : priced;
      sum += storage(local_rows(logits, shard) * loss_values_per_token, NumberFormat::fp32);
    }
  return sum;
}

/// Where the host waits for the tokens per expert it cannot run ahead of the device: the pass takes what is longer.
void synchronise(BlockCost& cost, const Block& block, const StackCalibration& stack) {
  const auto dispatches = [](const Op& op) { return op.kind == OpKind::dispatch; };
  if (stack.experts.expert_synchronisation <= 0 || std::none_of(block.ops().begin(), block.ops().end(), dispatches))
    return;
  const Picoseconds waited = std::max(Picoseconds(0), cost.host_forward - cost.forward.total());
  cost.forward.compute += part(waited, stack.experts.expert_synchronisation);
  cost.host_forward = std::max(cost.host_forward, cost.forward.total());
}

}  // namespace

bool runs_backward(const Block& block) {
  return std::any_of(block.outputs().begin(), block.outputs().end(),
                     [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; });
}

PhaseTime BlockPricer::phase(Seconds compute, const CollectiveTimes& collectives) const {
  const double factor = kernels_.calibration().stack.compute.step_factor;
  return {rounded(compute, factor), rounded(collectives.tensor, factor), rounded(collectives.context, factor),
          rounded(collectives.expert, factor)};
}

BlockCost BlockPricer::price(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  BlockCost cost = price_without_by_operator(block, shard, groups);
  add_by_operator(cost, block, shard, groups);
  return cost;
}

/// Programs are known by their block, so those of a block that is made here are not.
BlockCost BlockPricer::price_without_by_operator(const Block& block, const Shard& shard, const BlockGroups& groups,
                                                 KnownPrograms* known) const {
  if (!casts_itself(kernels_.calibration().stack.features, shard.formats))
    return price_as_run(block, shard, groups, known);
  return price_as_run(with_32_bit_residuals(block), shard, groups, nullptr);
}

ForwardCost BlockPricer::price_forward(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  const Block run = as_run(block, shard, kernels_.calibration().stack.features);
  Times times;
  const BlockCost cost = price_passes(times, {run, shard, groups});
  return {cost.forward, cost.host_forward};
}

BlockCost BlockPricer::price_passes(Times& times, const PricedBlock& of) const {
  for (const Op& op : of.block.ops()) {
    const Seconds before = times.forward;
    const double kernels = times.kernels.forward;
    add_op(times, of.block, op, of.shard);
    times.op_forward.push_back(times.forward - before);
    times.op_kernels.push_back(times.kernels.forward - kernels);
  }
  const StackCalibration& stack = kernels_.calibration().stack;
  BlockCost cost;
  add_passes(cost, times, of, priced_logits(of.block, of.shard, stack));
  cost.backward_weight = std::min(cost.backward.compute, rounded(times.backward_weight, stack.compute.step_factor));
  cost.waits_for_transfers = stack.features.at_transfers == HostPace::waits;
  cost.waits_for_passes = stack.features.at_passes == HostPace::waits;
  synchronise(cost, of.block, stack);
  return cost;
}

BlockCost BlockPricer::price_as_run(const Block& block, const Shard& shard, const BlockGroups& groups,
                                    KnownPrograms* known) const {
  const PricedBlock of{block, shard, groups, known};
  Times times;
  BlockCost cost = price_passes(times, of);
  const StackCalibration& stack = kernels_.calibration().stack;
  const StackFeatures& features = stack.features;
  cost.boundary = boundary_bytes(block, shard);
  if (block.needs_input_gradient()) cost.boundary_gradient = cost.boundary;
  if (features.stage_outputs == StageOutputs::kept) cost.kept_output = cost.boundary;
  if (features.attention_scratch == AttentionScratch::parts_by_keys && runs_backward(block))
    cost.attention_scratch = attention_scratch(block, shard);
  cost.frees_logits = features.logits == LogitLifetime::next_backward;
  if (block.kind() != BlockKind::output)
    for (const TensorId id : block.outputs()) cost.output += local_bytes(block.tensor(id), shard);
  cost.parameters = rank_parameters(block, shard);
  if (!needs_turned_copies(shard.formats.scaling, kernels_.fp8_layouts()))
    cost.unturned_weights = cost.parameters.product_weights;
  cost.tensors = parameter_tensors(block, shard, stack.sharding.gathered_from_elements);
  cost.flops = block_flops(block, shard);
  if (shard.orthogonalises) cost.orthogonalisation = rounded(orthogonalisation_time(kernels_, block, shard), 1);
  add_ruled_variants(cost, times, of);
  const bool holds_checkpoints =
      features.layer_checkpoints == LayerCheckpoints::on_host && block.kind() == BlockKind::layer;
  if (holds_checkpoints) hold_on_host(cost.variants[Variant::full], shard.tensor_parallel, to_host_);
  cost.variants.push_back(cost.variant(Variant::kept));
  cost.variants.push_back(shard.recomputed.empty() ? cost.variant(Variant::kept) : with_modules(cost, times, of));
  cost.variants.push_back(offload_kept(cost, shard.tensor_parallel, to_host_));
  for (const ReplayPlace place : {ReplayPlace::first, ReplayPlace::middle, ReplayPlace::last})
    cost.variants.push_back(in_row(cost, of, place));
  if (holds_checkpoints && shard.joined_layers == JoinedLayers::some)
    hold_on_host(cost.variants[Variant::replayed_first], shard.tensor_parallel, to_host_);
  if (!runs_backward(block)) std::fill(cost.variants.begin() + 1, cost.variants.end(), cost.variant(Variant::kept));
  return cost;
}

void BlockPricer::add_passes(BlockCost& cost, Times& times, const PricedBlock& of, Bytes logits) const {
  const BlockProgram program = of.lowering.lower({});
  const CollectiveTimes forward = collectives(of, program, BlockPass::forward);
  const CollectiveTimes backward = collectives(of, program, BlockPass::backward);
  times.memory = memory_profile(program, BackwardForm::split, Bytes(0), logits);
  cost.forward = phase(times.forward, forward);
  cost.backward = phase(times.backward, backward);
  cost.host_forward = host_time(times.kernels.forward, forward.launches);
  cost.host_backward = host_time(times.kernels.backward, backward.launches);
  cost.host_backward_weight = host_time(times.kernels.backward_weight, 0);
  cost.wire_forward = forward.wire;
  cost.wire_backward = backward.wire;
}

}  // namespace plumbline
