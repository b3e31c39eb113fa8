#include "core/cost/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/cost/held_states.h"
#include "core/plan/pipeline_schedule.h"
#include "core/program/order_memo.h"
#include "core/program/pipeline_orders.h"
#include "core/program/repeating_order.h"

namespace plumbline {
namespace {

/// Of ranks whose backwards are whole and whose chunks are alike: the forward that brings most in flight, or the
/// backward behind it, is the peak. `gradients`: of the rank, there from its first backward on.
PeakLoads whole_load(const MemoryProfile& rank, const Strategy& s, std::int32_t index, Bytes gradients) {
  const std::int64_t v = s.virtual_stages;
  const bool forwards_first = record_of(s.schedule).passes == PassOrder::forwards_first;
  PeakLoads load;
  load[ActionKind::forward] = {(rank.saved * chunks_in_flight(s, index) + Bytes(v - 1)) / v,
                               (forwards_first ? s.micro_batches : 1) * rank.logits, rank.working.forward, 0};
  const bool follows_backward = !forwards_first && s.micro_batches * v > chunks_in_flight(s, index);
  if (follows_backward) load[ActionKind::forward].gradients = gradients;
  load[ActionKind::backward] = load[ActionKind::forward];
  load[ActionKind::backward].gradients = gradients;
  load[ActionKind::backward].working = rank.working.backward;
  load[ActionKind::backward].position = 1;
  return load;
}

}  // namespace

bool keeps_gradients(const Strategy& s, const StackFeatures& features) {
  return s.zero_stage >= 2 && s.pipeline_stages > 1 && features.sharded_gradients == ShardedGradients::last_backward;
}

std::optional<NumberFormat> kept_gradients(const Strategy& s, const StackFeatures& features,
                                           const PrecisionFormats& formats) {
  return keeps_gradients(s, features) ? std::optional(formats.gradient) : std::nullopt;
}

Bytes whole_gradients(const RankParameters& parameters, const RankParameters& rank, const Strategy& s,
                      std::optional<NumberFormat> kept) {
  if (!kept) return Bytes(0);
  return storage(padded(part_of_rank(parameters, rank), replica_ranks(s)).trained(), *kept);
}

MemoryProfile memory_on_stage(const StageSizes& stage, bool sends) {
  MemoryProfile memory = stage.memory;
  if (sends) memory.keep_output(stage.kept_output);
  return memory;
}

namespace {

/// A block acts alongside two copies at most: to the host of the one that acted before, back of the one that acts next.
void add_copies(std::vector<ChunkLoad>& chunks) {
  Bytes in_transit(0);
  for (const ChunkLoad& chunk : chunks) in_transit = std::max(in_transit, chunk.memory.in_transit);
  for (ChunkLoad& chunk : chunks) chunk.memory.add_in_transit(std::int64_t{2} * in_transit);
}

/// `cost_of`: by the rank's chunk and its stage.
template <class CostOf>
PeakLoads load_of_rank(const StageTable& stages, const Strategy& s, std::int32_t rank, std::optional<NumberFormat> kept,
                       const CostOf& cost_of) {
  const std::int32_t v = s.virtual_stages;
  std::vector<ChunkLoad> chunks;
  chunks.reserve(static_cast<std::size_t>(v));
  for (std::int32_t c = 0; c < v; ++c) {
    const std::int32_t stage = stage_of(placement(s.schedule), s.pipeline_stages, rank, c);
    const StageSizes& cost = cost_of(static_cast<std::size_t>(c), static_cast<std::size_t>(stage));
    const bool sends = stage + 1 < s.pipeline_stages * v;
    const RankParameters& held = stages[static_cast<std::size_t>(rank)].parameters;
    chunks.push_back({memory_on_stage(cost, sends), whole_gradients(cost.parameters, held, s, kept)});
    const bool hands_on = c + 1 < v && stage_of(placement(s.schedule), s.pipeline_stages, rank, c + 1) == stage + 1;
    if (!hands_on) continue;
    const StageSizes& next = stages.stage(static_cast<std::size_t>(stage) + 1);
    chunks.back().transferred = next.boundary;
    chunks.back().transferred_gradient = next.boundary_gradient;
  }
  if (v > 1) add_copies(chunks);
  const PipelineShape shape = pipeline_shape(s);
  if (const auto peaks = order_of(s.schedule).peaks) return peaks(shape, rank, chunks);
  if (v == 1 && !splits_backward(s.schedule))
    return whole_load(chunks.front().memory, s, rank, chunks.front().gradients);
  const auto order = checked_order(s.schedule, peak_shape(s.schedule, shape));
  return peak_loads(order->schedule.ranks[static_cast<std::size_t>(rank)], chunks);
}

}  // namespace

PeakLoads rank_load(const StageTable& stages, const Strategy& s, std::int32_t rank, std::optional<NumberFormat> kept) {
  return load_of_rank(stages, s, rank, kept,
                      [&](std::size_t, std::size_t stage) -> const StageCost& { return stages.stage(stage); });
}

PeakLoads rank_load(const StageTable& stages, const Strategy& s, std::int32_t rank, std::optional<NumberFormat> kept,
                    std::span<const StageCost> chunks) {
  return load_of_rank(stages, s, rank, kept,
                      [&](std::size_t chunk, std::size_t) -> const StageCost& { return chunks[chunk]; });
}

std::vector<std::int32_t> informative_ranks(const StageLayout& layout, const Strategy& s,
                                            std::optional<NumberFormat> kept) {
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
    const bool is_new =
        kept.has_value() || splits_backward(s.schedule) ||
        std::none_of(ranks.begin(), ranks.end(), [&](std::int32_t r) { return holds_the_same(r, rank); });
    if (is_new) ranks.push_back(rank);
  }
  return ranks;
}

MemoryBreakdown stage_memory(const StageSizes& stage, const PeakLoads& load, const Strategy& s,
                             const PrecisionFormats& formats, Optimizer optimizer, const StackCalibration& stack) {
  return with_load(RankStates(stage, s).of(s, formats, optimizer, stack), load, stack);
}

MemoryBreakdown stage_memory(const StageSizes& stage, const Strategy& s, const PrecisionFormats& formats,
                             Optimizer optimizer, const StackCalibration& stack, std::int32_t rank) {
  const std::int64_t sending = s.virtual_stages - (rank + 1 == s.pipeline_stages ? 1 : 0);
  MemoryProfile whole = stage.memory;
  whole.keep_output(sending * stage.kept_output);
  const Bytes gradients =
      whole_gradients(stage.parameters, stage.parameters, s, kept_gradients(s, stack.features, formats));
  // Of several chunks, those of the first that has a backward: more come as what is saved goes.
  const Bytes at_peak = gradients / std::int64_t{s.virtual_stages};
  return stage_memory(stage, whole_load(whole, s, rank, at_peak), s, formats, optimizer, stack);
}

}  // namespace plumbline
