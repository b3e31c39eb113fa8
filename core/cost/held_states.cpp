#include "core/cost/held_states.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/cost/autocast.h"
#include "core/cost/matrix_gathers.h"
#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

/// In the order of a step.
constexpr std::int64_t after_all_actions = std::numeric_limits<std::int64_t>::max();

Bytes coefficient_bytes(double value) { return Bytes(static_cast<std::int64_t>(value)); }

/// Without that of a shard group.
std::int64_t group_count(const Strategy& s) {
  std::int64_t count = 0;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::gradient, Axis::pipeline, Axis::expert})
    if (rank_group(s, axis).size > 1) ++count;
  return count;
}

/// `groups`: without that of a shard group.
Bytes communicator_buffers(std::int64_t groups, const Strategy& s, const StackSizes& stack) {
  const std::int64_t smaller = (s.is_hybrid() ? 1 : 0) + (forms(s, Axis::secondary_shard) ? 1 : 0);
  return (groups + smaller) * coefficient_bytes(stack.memory.communicator_bytes);
}

/// Copies that some stacks keep of gradients: in 16 bits alongside a sum in 32, or of the shard that a rank updates in
/// 32 bits alongside a sum in 16.
Bytes copied_gradients(const RankParameters& held, const Strategy& s, const PrecisionFormats& formats,
                       const StackSizes& stack) {
  if (!formats.master) return Bytes(0);
  const bool is_whole = bits(formats.gradient) > bits(formats.weight);
  const double bytes = is_whole ? stack.memory.copied_gradient_bytes : stack.memory.updated_gradient_bytes;
  if (bytes == 0) return Bytes(0);
  const std::int32_t sharded_from = is_whole ? 2 : 1;
  const ShardRanks ranks = s.zero_stage >= sharded_from ? shard_ranks(s) : ShardRanks{};
  const std::int64_t copied =
      divided(held.dense_trained.total(), ranks.dense) + divided(held.expert_trained.total(), ranks.expert);
  return coefficient_bytes(bytes * static_cast<double>(copied));
}

/// PyTorch's FSDP shards parameters and gradients in the format of the master weights; 16-bit weights exist only while
/// their unit is gathered.
void shard_masters(MemoryBreakdown& memory, const RankParameters& held, const Strategy& s,
                   const PrecisionFormats& formats, const StackSizes& stack) {
  if (stack.features.sharded_states == ShardedStates::of_recipe || s.zero_stage < 3 || !formats.master) return;
  const ShardRanks ranks = shard_ranks(s);
  const std::int64_t trained =
      divided(held.dense_trained.total(), ranks.dense) + divided(held.expert_trained.total(), ranks.expert);
  memory[MemoryClass::weights] -= std::min(memory[MemoryClass::weights], storage(trained, formats.weight));
  memory[MemoryClass::gradients] += storage(trained, *formats.master) - storage(trained, formats.gradient);
}

/// Weights of quantised products, kept over the micro-batches of a step: in 16 bits alongside copies, row- and
/// column-wise, or in fp8 alone. Products that read operands in any layout need no column-wise copy (Transformer
/// Engine, is_non_tn_fp8_gemm_supported). Where parameters are sharded there is nothing to keep them of: a unit is cast
/// when it is gathered.
void keep_quantized_weights(MemoryBreakdown& memory, const StageSizes& stage, const Strategy& s,
                            const PrecisionFormats& formats, const StackSizes& stack) {
  if (!is_quantized(formats.matmul) || s.zero_stage >= 3) return;
  const std::int64_t weights = stage.parameters.product_weights;
  const Bytes copy = storage(weights, formats.matmul);
  const StackFeatures& features = stack.features;
  const bool is_alone = features.fp8_parameters == QuantizedWeights::alone && formats.matmul != NumberFormat::fp4;
  if (is_alone) memory[MemoryClass::weights] -= storage(weights, formats.weight) - copy;
  const auto copies = static_cast<std::int64_t>(features.fp8_copies);
  const std::int64_t turned = std::max<std::int64_t>(0, is_alone ? copies : copies - 1);
  memory[MemoryClass::working_buffers] += copies * copy - turned * storage(stage.unturned_weights, formats.matmul);
}

/// Gradients, and under torch.autocast the 16-bit copies that no backward reads, of a step that is one micro-batch.
/// Frozen weights are no copies: nothing holds them in 32 bits besides.
LateTensors late_tensors(const MemoryBreakdown& memory, const RankParameters& held, const Strategy& s,
                         const PrecisionFormats& formats, const StackSizes& stack) {
  LateTensors late;
  if (stack.features.step_gradients == StepGradients::held || s.micro_batches > 1 || s.pipeline_stages > 1) return late;
  if (s.gradient_ranks() == 1 && s.expert_gradient_ranks() == 1) late.gradients = memory[MemoryClass::gradients];
  const ShardRanks ranks = s.zero_stage >= 3 ? shard_ranks(s) : ShardRanks{};
  const std::int64_t trained =
      divided(held.dense_trained.total(), ranks.dense) + divided(held.expert_trained.total(), ranks.expert);
  const Bytes copies = std::min(memory[MemoryClass::weights], storage(trained, formats.weight));
  late.weights =
      coefficient_bytes(recast_share(s.recompute, stack.features, formats) * static_cast<double>(copies.value()));
  return late;
}

Bytes secondary_shards(const RankParameters& held, const Strategy& s, const PrecisionFormats& formats) {
  if (!forms(s, Axis::secondary_shard)) return Bytes(0);
  const ShardRanks all = shard_ranks(s);
  const ShardRanks ranks = secondary_ranks(s);
  std::int64_t parameters = 0;
  if (ranks.dense != all.dense) parameters += divided(held.dense.total(), ranks.dense);
  if (ranks.expert != all.expert) parameters += divided(held.expert.total(), ranks.expert);
  return storage(parameters, formats.weight);
}

Bytes gathered_parameters(const WholeUnits& most, ParameterPrefetch prefetch, const PrecisionFormats& formats,
                          const StackSizes& stack) {
  return storage(std::min<std::int64_t>(most.gathered(prefetch), std::llround(stack.sharding.gathered_parameters)),
                 formats.weight);
}

Bytes gathered_gradients(const WholeUnits& most, const PrecisionFormats& formats, const StackSizes& stack) {
  return storage(std::min<std::int64_t>(most.two_trained, std::llround(stack.sharding.gathered_gradients)),
                 formats.gradient);
}

/// What micro-batches hold at one moment, and what is gathered then.
struct AtMoment {
  LoadPeak load;
  Bytes gathered{0};
  LateTensors absent;  ///< of what is held
  [[nodiscard]] Bytes total() const { return load.total() + gathered - absent.total(); }
};

/// Every moment that may be the peak: of each kind of action the largest, then those of the step's end.
template <class See>
void for_moments(const HeldStates& held, const PeakLoads& load, See see) {
  const auto see_kind = [&](ActionKind kind, Bytes gathered) {
    if (load[kind].position >= 0) see(AtMoment{load[kind], gathered + held.secondary, held.late});
  };
  see_kind(ActionKind::forward, held.whole_parameters);
  see_kind(ActionKind::backward, held.whole_parameters + held.whole_gradients);
  see_kind(ActionKind::backward_input, held.whole_parameters);
  see_kind(ActionKind::backward_weight, held.whole_gradients);
  LoadPeak packed;
  packed.working = held.packed_gradients;
  packed.position = after_all_actions;
  see(AtMoment{packed, Bytes(0), {}});
  LoadPeak matrices;
  matrices.position = after_all_actions;
  see(AtMoment{matrices, held.matrices, {}});
}

/// The moment at which load and gathered units are most, of equals the first in the order.
AtMoment at_peak(const HeldStates& held, const PeakLoads& load) {
  std::optional<AtMoment> most;
  for_moments(held, load, [&](const AtMoment& moment) {
    const bool is_first = !most;
    const Bytes known = is_first ? Bytes(0) : most->total();
    if (is_first || moment.total() > known || (moment.total() == known && moment.load.position < most->load.position))
      most = moment;
  });
  return *most;
}

Bytes lost(Bytes live, const StackCalibration& stack) {
  return coefficient_bytes(static_cast<double>(live.value()) * stack.memory.fragmentation_fraction);
}

}  // namespace

Bytes communicator_buffers(const Strategy& s, const StackSizes& stack) {
  return communicator_buffers(group_count(s), s, stack);
}

Bytes gathered_parameters(const StageSizes& stage, const Strategy& s, const PrecisionFormats& formats,
                          const StackSizes& stack) {
  return gathered_parameters(whole_units(stage.parameters, replica_ranks(s)), s.prefetch, formats, stack);
}

Bytes gathered_gradients(const StageSizes& stage, const Strategy& s, const PrecisionFormats& formats,
                         const StackSizes& stack) {
  return gathered_gradients(whole_units(stage.parameters, replica_ranks(s)), formats, stack);
}

RankStates::RankStates(const StageSizes& stage, const Strategy& family)
    : stage_(&stage),
      held_(padded(stage.parameters, replica_ranks(family))),
      most_(whole_units(stage.parameters, replica_ranks(family))),
      groups_(group_count(family)) {}

HeldStates RankStates::of(const Strategy& s, const PrecisionFormats& formats, Optimizer optimizer,
                          const StackSizes& stack) const {
  HeldStates held;
  MemoryBreakdown& memory = held.memory;
  const ModelState state = model_state(held_, formats, optimizer, s.zero_stage, shard_ranks(s));
  memory[MemoryClass::weights] = state.weights;
  memory[MemoryClass::gradients] = state.gradients + copied_gradients(held_, s, formats, stack);
  memory[MemoryClass::master_weights] = state.master_weights;
  shard_masters(memory, held_, s, formats, stack);
  memory[MemoryClass::optimizer_state] = state.optimizer_state;
  const OptimizerFacts& kept = facts(optimizer);
  if (kept.quantizes_states || (kept.matrix_states != kept.other_states && s.zero_stage >= 1))
    memory[MemoryClass::optimizer_state] =
        storage(most_states(stage_->parameters, optimizer, replica_ranks(s), shard_ranks(s)), formats.optimizer_state);
  // Libraries and attention use the same scratch, one behind the other.
  memory[MemoryClass::working_buffers] =
      std::max(coefficient_bytes(stack.memory.workspace_bytes), stage_->attention_scratch);
  keep_quantized_weights(memory, *stage_, s, formats, stack);
  const Bytes received = s.pipeline_stages > 1 ? stage_->boundary + stage_->transferred : Bytes(0);
  memory[MemoryClass::communication_buffers] = communicator_buffers(groups_, s, stack) + received;
  memory[MemoryClass::framework_and_context] = coefficient_bytes(stack.memory.context_bytes);
  held.late = late_tensors(memory, held_, s, formats, stack);
  held.total = memory.device_total();
  held.live = memory.live();
  if (s.zero_stage >= 3) held.whole_parameters = gathered_parameters(most_, s.prefetch, formats, stack);
  if (s.zero_stage >= 2 && !kept_gradients(s, stack.features, formats))
    held.whole_gradients = gathered_gradients(most_, formats, stack);
  held.packed_gradients = storage(padded(stage_->parameters.partial_trained, s.tensor_parallel), formats.gradient);
  held.matrices = matrix_gathers(stage_->parameters, s, optimizer).buffer;
  held.secondary = secondary_shards(held_, s, formats);
  return held;
}

double recast_share(const Recompute& recompute, const StackFeatures& features, const PrecisionFormats& formats) {
  if (!casts_itself(features, formats)) return 0;
  if (recompute.mode == RecomputeMode::full || joins_layers(recompute)) return 1;
  return recompute.mode == RecomputeMode::every_nth ? 1.0 / recompute.n : 0;
}

MemoryBreakdown with_load(const HeldStates& held, const PeakLoads& load, const StackCalibration& stack) {
  MemoryBreakdown memory = held.memory;
  const AtMoment peak = at_peak(held, load);
  memory[MemoryClass::gradients] -= peak.absent.gradients;
  memory[MemoryClass::weights] -= peak.absent.weights;
  memory[MemoryClass::activations] = peak.load.saved;
  memory[MemoryClass::working_buffers] += peak.load.working;
  memory[MemoryClass::logits_and_loss] = peak.load.logits;
  memory[MemoryClass::gathered_parameters] = peak.gathered + peak.load.gradients;
  memory[MemoryClass::fragmentation] = lost(memory.live(), stack);
  return memory;
}

Bytes total_with_load(const HeldStates& held, const PeakLoads& load, const StackCalibration& stack) {
  Bytes most(0);
  for_moments(held, load, [&](const AtMoment& moment) { most = std::max(most, moment.total()); });
  return held.total + most + lost(held.live + most, stack);
}

}  // namespace plumbline
