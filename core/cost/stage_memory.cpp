#include "core/cost/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/cost/matrix_gathers.h"
#include "core/cost/zero_memory.h"
#include "core/plan/pipeline_schedule.h"
#include "core/program/order_memo.h"
#include "core/program/pipeline_orders.h"
#include "core/program/repeating_order.h"

namespace plumbline {
namespace {

Bytes coefficient_bytes(double value) { return Bytes(static_cast<std::int64_t>(value)); }

/// Without that of a shard group.
std::int64_t group_count(const Strategy& s) {
  std::int64_t count = 0;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::gradient, Axis::pipeline, Axis::expert})
    if (rank_group(s, axis).size > 1) ++count;
  return count;
}

/// `groups`: without that of a shard group.
Bytes communicator_buffers(std::int64_t groups, const Strategy& s, const StackCalibration& stack) {
  const bool has_shard_group = s.zero_stage > 0 && s.shard_group != s.gradient_ranks();
  return (groups + (has_shard_group ? 1 : 0)) * coefficient_bytes(stack.memory.communicator_bytes);
}

/// Copies that some stacks keep of gradients: in 16 bits alongside a sum in 32, or of the shard that a rank updates in
/// 32 bits alongside a sum in 16.
Bytes copied_gradients(const RankParameters& held, const Strategy& s, const PrecisionFormats& formats,
                       const StackCalibration& stack) {
  if (!formats.master) return Bytes(0);
  const bool is_whole = bits(formats.gradient) > bits(formats.weight);
  const double bytes = is_whole ? stack.memory.copied_gradient_bytes : stack.memory.updated_gradient_bytes;
  const std::int32_t sharded_from = is_whole ? 2 : 1;
  const ShardRanks ranks = s.zero_stage >= sharded_from ? shard_ranks(s) : ShardRanks{};
  const std::int64_t copied =
      divided(held.dense_trained.total(), ranks.dense) + divided(held.expert_trained.total(), ranks.expert);
  return coefficient_bytes(bytes * static_cast<double>(copied));
}

/// PyTorch's FSDP shards parameters and gradients in the format of the master weights: 16-bit weights are there only
/// while a unit is gathered.
void shard_masters(MemoryBreakdown& memory, const RankParameters& held, const Strategy& s,
                   const PrecisionFormats& formats, const StackCalibration& stack) {
  if (stack.features.sharded_states == ShardedStates::of_recipe || s.zero_stage < 3 || !formats.master) return;
  const ShardRanks ranks = shard_ranks(s);
  const std::int64_t trained =
      divided(held.dense_trained.total(), ranks.dense) + divided(held.expert_trained.total(), ranks.expert);
  memory[MemoryClass::weights] -= std::min(memory[MemoryClass::weights], storage(trained, formats.weight));
  memory[MemoryClass::gradients] += storage(trained, *formats.master) - storage(trained, formats.gradient);
}

/// Weights of quantised products, kept over the micro-batches of a step: in 16 bits alongside copies, row- and
/// column-wise, or in fp8 alone. Where parameters are sharded there is nothing to keep them of: a unit is cast when it
/// is gathered.
void keep_quantized_weights(MemoryBreakdown& memory, const StageCost& stage, const Strategy& s,
                            const PrecisionFormats& formats, const StackCalibration& stack) {
  if (!is_quantized(formats.matmul) || s.zero_stage >= 3) return;
  const std::int64_t weights = stage.parameters.product_weights;
  const Bytes copy = storage(weights, formats.matmul);
  const StackFeatures& features = stack.features;
  const bool is_alone = features.fp8_parameters == QuantizedWeights::alone && formats.matmul != NumberFormat::fp4;
  if (is_alone) memory[MemoryClass::weights] -= storage(weights, formats.weight) - copy;
  memory[MemoryClass::working_buffers] += static_cast<std::int64_t>(features.fp8_copies) * copy;
}

Bytes gathered_parameters(const WholeUnits& most, ParameterPrefetch prefetch, const PrecisionFormats& formats,
                          const StackCalibration& stack) {
  return storage(std::min<std::int64_t>(most.gathered(prefetch), std::llround(stack.sharding.gathered_parameters)),
                 formats.weight);
}

Bytes gathered_gradients(const WholeUnits& most, const PrecisionFormats& formats, const StackCalibration& stack) {
  return storage(std::min<std::int64_t>(most.two_trained, std::llround(stack.sharding.gathered_gradients)),
                 formats.gradient);
}

/// Of ranks whose backwards are whole and whose chunks are alike: the forward that brings most in flight, or the
/// backward behind it, is the peak.
PeakLoads whole_load(const MemoryProfile& rank, const Strategy& s, std::int32_t index) {
  const std::int64_t v = s.virtual_stages;
  const bool forwards_first = record_of(s.schedule).passes == PassOrder::forwards_first;
  PeakLoads load;
  load[ActionKind::forward] = {(rank.saved * chunks_in_flight(s, index) + Bytes(v - 1)) / v,
                               (forwards_first ? s.micro_batches : 1) * rank.logits, rank.working.forward, 0};
  load[ActionKind::backward] = load[ActionKind::forward];
  load[ActionKind::backward].working = rank.working.backward;
  load[ActionKind::backward].position = 1;
  return load;
}

struct AtPeak {
  LoadPeak load;
  Bytes gathered{0};
};

/// The kind of action at which load and gathered units are most, of equals the first in the order.
AtPeak at_peak(const StageCost& stage, const WholeUnits& units, const PeakLoads& load, const Strategy& s,
               const PrecisionFormats& formats, Optimizer optimizer, const StackCalibration& stack) {
  const Bytes parameters = s.zero_stage >= 3 ? gathered_parameters(units, s.prefetch, formats, stack) : Bytes(0);
  const Bytes gradients = s.zero_stage >= 2 ? gathered_gradients(units, formats, stack) : Bytes(0);
  std::optional<AtPeak> most;
  const auto see = [&](ActionKind kind, Bytes gathered) {
    const LoadPeak& peak = load[kind];
    if (peak.position < 0) return;
    const Bytes total = peak.total() + gathered;
    const Bytes known = most ? most->load.total() + most->gathered : Bytes(-1);
    if (total > known || (total == known && peak.position < most->load.position)) most = AtPeak{peak, gathered};
  };
  see(ActionKind::forward, parameters);
  see(ActionKind::backward, parameters + gradients);
  see(ActionKind::backward_input, parameters);
  see(ActionKind::backward_weight, gradients);
  const auto see_once = [&](const AtPeak& once) {
    const Bytes total = once.load.total() + once.gathered;
    if (most && total > most->load.total() + most->gathered) most = once;
  };
  // Once a step, gradients that each tensor-parallel rank makes a part of are summed, packed into one buffer.
  LoadPeak packed;
  packed.working = storage(padded(stage.parameters.partial_trained, s.tensor_parallel), formats.gradient);
  see_once({packed, Bytes(0)});
  see_once({LoadPeak{}, matrix_gathers(stage.parameters, s, optimizer).buffer});
  return most.value_or(AtPeak{});
}

}  // namespace

Bytes communicator_buffers(const Strategy& s, const StackCalibration& stack) {
  return communicator_buffers(group_count(s), s, stack);
}

Bytes gathered_parameters(const StageCost& stage, const Strategy& s, const PrecisionFormats& formats,
                          const StackCalibration& stack) {
  return gathered_parameters(whole_units(stage.parameters, replica_ranks(s)), s.prefetch, formats, stack);
}

Bytes gathered_gradients(const StageCost& stage, const Strategy& s, const PrecisionFormats& formats,
                         const StackCalibration& stack) {
  return gathered_gradients(whole_units(stage.parameters, replica_ranks(s)), formats, stack);
}

MemoryProfile memory_on_stage(const StageCost& stage, bool sends) {
  MemoryProfile memory = stage.memory;
  if (sends) memory.keep_output(stage.kept_output);
  return memory;
}

namespace {

/// A chunk acts alongside copies of whichever acted before, or acts next.
void add_copies_of_others(std::vector<ChunkLoad>& chunks) {
  Bytes in_transit(0);
  for (const ChunkLoad& chunk : chunks) in_transit = std::max(in_transit, chunk.memory.in_transit);
  for (ChunkLoad& chunk : chunks) chunk.memory.add_in_transit(std::int64_t{2} * in_transit);
}

/// `cost_of`: by the rank's chunk and its stage.
template <class CostOf>
PeakLoads load_of_rank(const StageTable& stages, const Strategy& s, std::int32_t rank, const CostOf& cost_of) {
  const std::int32_t v = s.virtual_stages;
  std::vector<ChunkLoad> chunks;
  chunks.reserve(static_cast<std::size_t>(v));
  for (std::int32_t c = 0; c < v; ++c) {
    const std::int32_t stage = stage_of(placement(s.schedule), s.pipeline_stages, rank, c);
    const StageCost& cost = cost_of(static_cast<std::size_t>(c), static_cast<std::size_t>(stage));
    const bool sends = stage + 1 < s.pipeline_stages * v;
    chunks.push_back({memory_on_stage(cost, sends)});
    const bool hands_on = c + 1 < v && stage_of(placement(s.schedule), s.pipeline_stages, rank, c + 1) == stage + 1;
    if (!hands_on) continue;
    const StageCost& next = stages.stage(static_cast<std::size_t>(stage) + 1);
    chunks.back().transferred = next.boundary;
    chunks.back().transferred_gradient = next.boundary_gradient;
  }
  if (v > 1) add_copies_of_others(chunks);
  const PipelineShape shape = pipeline_shape(s);
  if (const auto peaks = order_of(s.schedule).peaks) return peaks(shape, rank, chunks);
  if (v == 1 && !splits_backward(s.schedule)) return whole_load(chunks.front().memory, s, rank);
  const auto order = checked_order(s.schedule, peak_shape(s.schedule, shape));
  return peak_loads(order->schedule.ranks[static_cast<std::size_t>(rank)], chunks);
}

}  // namespace

PeakLoads rank_load(const StageTable& stages, const Strategy& s, std::int32_t rank) {
  return load_of_rank(stages, s, rank,
                      [&](std::size_t, std::size_t stage) -> const StageCost& { return stages.stage(stage); });
}

PeakLoads rank_load(const StageTable& stages, const Strategy& s, std::int32_t rank, std::span<const StageCost> chunks) {
  return load_of_rank(stages, s, rank,
                      [&](std::size_t chunk, std::size_t) -> const StageCost& { return chunks[chunk]; });
}

std::vector<std::int32_t> informative_ranks(const StageLayout& layout, const Strategy& s) {
  if (s.virtual_stages == 1 && !splits_backward(s.schedule)) return layout.first_rank;
  std::vector<std::int32_t> ranks;
  const auto stage = [&](std::int32_t rank, std::int32_t chunk) {
    return layout.of_stage[static_cast<std::size_t>(stage_of(placement(s.schedule), s.pipeline_stages, rank, chunk))];
  };
  const auto holds_the_same = [&](std::int32_t a, std::int32_t b) {
    for (std::int32_t c = 0; c < s.virtual_stages; ++c)
      if (stage(a, c) != stage(b, c)) return false;
    return true;
  };
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
    const bool is_new = splits_backward(s.schedule) || std::none_of(ranks.begin(), ranks.end(), [&](std::int32_t r) {
                          return holds_the_same(r, rank);
                        });
    if (is_new) ranks.push_back(rank);
  }
  return ranks;
}

ZeroMemory::ZeroMemory(const StageCost& stage, const PeakLoads& load, const Strategy& family)
    : stage_(&stage),
      load_(load),
      held_(padded(stage.parameters, replica_ranks(family))),
      most_(whole_units(stage.parameters, replica_ranks(family))),
      groups_(group_count(family)) {}

MemoryBreakdown ZeroMemory::of(const Strategy& s, const PrecisionFormats& formats, Optimizer optimizer,
                               const StackCalibration& stack) const {
  MemoryBreakdown memory;
  const ModelState state = model_state(held_, formats, optimizer, s.zero_stage, shard_ranks(s));
  memory[MemoryClass::weights] = state.weights;
  memory[MemoryClass::gradients] = state.gradients + copied_gradients(held_, s, formats, stack);
  memory[MemoryClass::master_weights] = state.master_weights;
  shard_masters(memory, held_, s, formats, stack);
  memory[MemoryClass::optimizer_state] = state.optimizer_state;
  const OptimizerFacts& kept = facts(optimizer);
  if (kept.matrix_states != kept.other_states && s.zero_stage >= 1)
    memory[MemoryClass::optimizer_state] =
        storage(most_states(stage_->parameters, optimizer, replica_ranks(s), shard_ranks(s)), formats.optimizer_state);
  const AtPeak peak = at_peak(*stage_, most_, load_, s, formats, optimizer, stack);
  memory[MemoryClass::activations] = peak.load.saved;
  memory[MemoryClass::working_buffers] = peak.load.working + coefficient_bytes(stack.memory.workspace_bytes);
  keep_quantized_weights(memory, *stage_, s, formats, stack);
  memory[MemoryClass::logits_and_loss] = peak.load.logits;
  memory[MemoryClass::gathered_parameters] = peak.gathered;
  const Bytes received = s.pipeline_stages > 1 ? stage_->boundary + stage_->transferred : Bytes(0);
  memory[MemoryClass::communication_buffers] = communicator_buffers(groups_, s, stack) + received;
  memory[MemoryClass::framework_and_context] = coefficient_bytes(stack.memory.context_bytes);
  const double live = static_cast<double>(memory.live().value());
  memory[MemoryClass::fragmentation] = coefficient_bytes(live * stack.memory.fragmentation_fraction);
  return memory;
}

MemoryBreakdown stage_memory(const StageCost& stage, const PeakLoads& load, const Strategy& s,
                             const PrecisionFormats& formats, Optimizer optimizer, const StackCalibration& stack) {
  return ZeroMemory(stage, load, s).of(s, formats, optimizer, stack);
}

MemoryBreakdown stage_memory(const StageCost& stage, const Strategy& s, const PrecisionFormats& formats,
                             Optimizer optimizer, const StackCalibration& stack, std::int32_t rank) {
  const std::int64_t sending = s.virtual_stages - (rank + 1 == s.pipeline_stages ? 1 : 0);
  MemoryProfile whole = stage.memory;
  whole.keep_output(sending * stage.kept_output);
  return stage_memory(stage, whole_load(whole, s, rank), s, formats, optimizer, stack);
}

}  // namespace plumbline
