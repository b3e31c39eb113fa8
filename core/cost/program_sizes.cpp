#include "core/cost/program_sizes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/cost/held_states.h"
#include "core/cost/matrix_gathers.h"
#include "core/cost/once_per_step.h"
#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

std::vector<Chunk> segments_of(const SizedPlan& plan, Granularity granularity, std::vector<std::size_t>& first) {
  std::vector<Chunk> segments;
  for (const Chunk& chunk : plan.ranks.layout().arrangement.chunks) {
    first.push_back(segments.size());
    if (granularity == Granularity::chunk) {
      segments.push_back(chunk);
      continue;
    }
    for (std::int64_t i = chunk.first; i < chunk.last; ++i) segments.push_back({i, i + 1});
  }
  first.push_back(segments.size());
  return segments;
}

StageLayout segment_layout(const SizedPlan& plan, const std::vector<Chunk>& segments) {
  Arrangement arrangement = plan.ranks.layout().arrangement;
  arrangement.chunks = segments;
  return stage_layout(plan.graph, std::move(arrangement), static_cast<std::int32_t>(segments.size()));
}

/// Of a segment that is one block whose activations wait on the host, what its forward keeps; else nothing.
const MemoryProfile* offloaded_block(const SizedPlan& plan, const Chunk& executions, Granularity granularity) {
  const auto first = static_cast<std::size_t>(executions.first);
  const Arrangement& arrangement = plan.ranks.layout().arrangement;
  if (granularity == Granularity::chunk || arrangement.variants[first] != Variant::offloaded) return nullptr;
  const std::size_t blocks = plan.graph.blocks().size();
  return &plan.blocks[arrangement.cost_index(plan.graph.sequence()[first], first, blocks)].memory();
}

enum class Backwards : std::uint8_t { whole, split };

/// `offloaded`: as offloaded_block says it; `output`: what stays next to it where it goes on to another stage.
void add_memory(SegmentSizes& sizes, const MemoryProfile* offloaded, Bytes output, Backwards backwards) {
  if (offloaded != nullptr) {
    sizes.memory = *offloaded;
    sizes.memory.keep_output(output);
    if (backwards == Backwards::split) sizes.offloaded_for_weight = offloaded->kept_for_weight;
    sizes.offloaded = offloaded->saved - sizes.offloaded_for_weight;
  }
  if (backwards == Backwards::whole) sizes.memory = sizes.memory.of_whole_backward();
}

/// What is sent to share the states of a part of a rank.
void add_sharing(SegmentSizes& sizes, const SizedPlan& plan, const RankParameters& parameters, const StageSizes& rank) {
  static_cast<SharingBytes&>(sizes) = sharing_bytes(part_of_rank(parameters, rank.parameters), plan.strategy,
                                                    plan.training.formats(), plan.stack.features);
}

void add_regathers(SegmentSizes& sizes, double share) {
  sizes.regather = Bytes(std::llround(share * static_cast<double>(sizes.gather_backward.value())));
}

Restores restores_of(const SizedPlan& plan, const RankContent& segment) {
  const bool replays = std::any_of(segment.variants.begin(), segment.variants.end(), [&](const VariantCount& counted) {
    return plan.blocks[static_cast<std::size_t>(counted.block)].variant(counted.variant).replays();
  });
  return replays ? Restores::something : Restores::nothing;
}

SegmentSizes segment_sizes(const SizedPlan& plan, const SegmentTable& segments, std::size_t index, bool sends,
                           const StageSizes& rank, Backwards backwards) {
  const Chunk& executions = segments.executions()[index];
  const StageSizes& segment = segments.sizes(index);
  const MemoryProfile* offloaded = offloaded_block(plan, executions, segments.granularity());
  SegmentSizes sizes;
  sizes.executions = {static_cast<std::int32_t>(executions.first), static_cast<std::int32_t>(executions.last)};
  sizes.restores = restores_of(plan, segments.layout().stage(index));
  sizes.memory = memory_on_stage(segment, sends);
  if (offloaded == nullptr) sizes.copied_inside = segment.copied;
  add_memory(sizes, offloaded, sends ? segment.kept_output : Bytes(0), backwards);
  static_cast<PassWires&>(sizes) = segment.sent;
  sizes.units = segment.units;
  add_sharing(sizes, plan, segment.parameters, rank);
  add_regathers(sizes, segment.regathered_share());
  return sizes;
}

/// Of a program of blocks, layers that are replayed in a row: what each restores waits for its own backward, and the
/// last one's backward follows all their replays, of which the program gathers each by itself.
void add_rows(ChunkSizes& chunk, const SizedPlan& plan, Backwards backwards) {
  const Arrangement& arrangement = plan.ranks.layout().arrangement;
  std::int32_t first = -1;
  for (std::int32_t i = 0; i < std::ssize(chunk.segments); ++i) {
    SegmentSizes& segment = chunk.segments[static_cast<std::size_t>(i)];
    const auto execution = static_cast<std::size_t>(segment.executions.first);
    const std::int32_t chosen = arrangement.variants[execution];
    if (chosen == Variant::replayed_first) first = i;
    if (chosen == Variant::replayed_last) segment.replayed_from = first;
    if (chosen != Variant::replayed_first && chosen != Variant::replayed_middle) continue;
    const std::size_t cost =
        arrangement.cost_index(plan.graph.sequence()[execution], execution, plan.graph.blocks().size());
    segment.memory.replayed_ahead = plan.blocks[cost].variant(chosen).memory.replayed_ahead;
    segment.memory.working = plan.blocks[cost].variant(chosen).memory.working;
    if (backwards == Backwards::whole) segment.memory = segment.memory.of_whole_backward();
    segment.restores = Restores::nothing;
    add_regathers(segment, 0);
  }
}

/// A unit of several segments is gathered and reduced with its first one.
void join_units(ChunkSizes& chunk, const SizedPlan& plan, const SegmentTable& segments, std::size_t first,
                const StageSizes& rank) {
  const Chunk executions{chunk.segments.front().executions.first, chunk.segments.back().executions.last};
  for (const Chunk& unit : sharding_units(plan.graph, executions, plan.strategy.layers_per_unit)) {
    chunk.units.push_back({static_cast<std::int32_t>(unit.first), static_cast<std::int32_t>(unit.last)});
    if (segments.granularity() == Granularity::chunk) continue;
    RankParameters parameters;
    std::int64_t regathered = 0;
    for (std::int64_t e = unit.first; e < unit.last; ++e) {
      const auto i = static_cast<std::size_t>(e - executions.first);
      parameters += segments.sizes(first + i).parameters;
      regathered += segments.sizes(first + i).regathered;
      chunk.segments[i].units = 0;
      if (unit.last - unit.first > 1) chunk.segments[i].executions.unit = static_cast<std::int32_t>(unit.first);
      add_sharing(chunk.segments[i], plan, {}, rank);
      add_regathers(chunk.segments[i], 0);
    }
    SegmentSizes& sends = chunk.segments[static_cast<std::size_t>(unit.first - executions.first)];
    sends.units = 1;
    const double share = StageSizes::regathered_share(regathered, parameters);
    add_sharing(sends, plan, one_unit(std::move(parameters)), rank);
    add_regathers(sends, share);
  }
}

/// The closed form's states, without what the program's own buffers hold.
HeldStates held_states(const SizedPlan& plan, StageSizes rank) {
  rank.boundary = rank.transferred = Bytes(0);
  rank.parameters.partial_trained = 0;
  rank.parameters.largest_matrix_unit = rank.parameters.largest_divided_matrix = 0;
  rank.parameters.largest_expert_unit = rank.parameters.largest_expert_matrix = 0;
  return RankStates(rank, plan.strategy)
      .of(plan.strategy, plan.training.formats(), plan.training.optimizer, plan.stack);
}

void add_states(RankSizes& sizes, const HeldStates& held) {
  MemoryBreakdown memory = held.memory;
  memory[MemoryClass::gradients] -= held.late.gradients;
  memory[MemoryClass::weights] -= held.late.weights;
  for (const MemoryClass c :
       {MemoryClass::weights, MemoryClass::gradients, MemoryClass::master_weights, MemoryClass::optimizer_state,
        MemoryClass::working_buffers, MemoryClass::communication_buffers, MemoryClass::framework_and_context})
    sizes.persistent.push_back({c, memory[c]});
  sizes.late = {{MemoryClass::gradients, held.late.gradients}, {MemoryClass::weights, held.late.weights}};
}

/// What is copied out of a chunk, or into one, lives next to whichever acts, as rank_load (stage_memory.h) counts it.
void add_in_transit(RankSizes& sizes, Backwards backwards) {
  Bytes most(0);
  for (const ChunkSizes& chunk : sizes.chunks)
    for (const SegmentSizes& segment : chunk.segments)
      if (segment.leaves() == Bytes(0)) most = std::max(most, segment.memory.in_transit);
  for (ChunkSizes& chunk : sizes.chunks)
    for (SegmentSizes& segment : chunk.segments) {
      segment.memory.add_in_transit(std::int64_t{2} * most);
      if (backwards == Backwards::whole) segment.memory = segment.memory.of_whole_backward();
    }
}

RankSizes rank_sizes(const SizedPlan& plan, const SegmentTable& segments, const ComputeSchedule& order,
                     std::int32_t index) {
  const Strategy& s = plan.strategy;
  const PrecisionFormats formats = plan.training.formats();
  const StageSizes& rank = plan.ranks[static_cast<std::size_t>(index)];
  RankSizes sizes;
  if (s.pipeline_stages > 1) {
    sizes.received = rank.boundary;
    sizes.received_gradient = rank.transferred;
  }
  const HeldStates held = held_states(plan, rank);
  add_states(sizes, held);
  sizes.secondary_shards = held.secondary;
  if (s.zero_stage >= 3) sizes.gathered_parameters = gathered_parameters(rank, s, formats, plan.stack);
  const std::optional<NumberFormat> kept = kept_gradients(s, plan.stack.features, formats);
  if (s.zero_stage >= 2 && !kept) sizes.gathered_gradients = gathered_gradients(rank, s, formats, plan.stack);
  sizes.reduction = sharing_bytes(rank.parameters, s, formats, plan.stack.features).reduction;
  const std::int64_t partial = padded(rank.parameters.partial_trained, s.tensor_parallel);
  sizes.packed_partial = storage(partial, formats.gradient);
  sizes.partial = wire_bytes(Collective::all_reduce, storage(partial, formats.reduction), s.tensor_parallel);
  sizes.matrices = matrix_gathers(rank.parameters, s, plan.training.optimizer);
  static_cast<ReductionRule&>(sizes) = reduction_rule(rank, s, plan.stack, formats);
  const bool is_end = index == 0 || index + 1 == s.pipeline_stages;
  if (is_end) sizes.tied = tied_bytes(plan.ranks[plan.ranks.size() - 1], s, formats);
  const RankOrder& actions = order.ranks[static_cast<std::size_t>(index)];
  const bool splits = std::any_of(actions.begin(), actions.end(),
                                  [](const ComputeAction& a) { return a.kind == ActionKind::backward_weight; });
  const Backwards backwards = splits ? Backwards::split : Backwards::whole;
  for (std::int32_t c = 0; c < s.virtual_stages; ++c) {
    const auto stage = static_cast<std::size_t>(order.stage(index, c));
    ChunkSizes& chunk = sizes.chunks.emplace_back();
    chunk.whole_gradients = whole_gradients(plan.ranks.stage(stage).parameters, rank.parameters, s, kept);
    const std::size_t end = segments.first_of_stage(stage + 1);
    for (std::size_t i = segments.first_of_stage(stage); i < end; ++i) {
      const bool sends = i + 1 == end && end < segments.executions().size();
      chunk.segments.push_back(segment_sizes(plan, segments, i, sends, rank, backwards));
    }
    if (segments.granularity() == Granularity::block) add_rows(chunk, plan, backwards);
    if (s.layers_per_unit > 1) join_units(chunk, plan, segments, segments.first_of_stage(stage), rank);
    chunk.boundary = segments.sizes(segments.first_of_stage(stage)).boundary;
    const bool hands_on = c + 1 < s.virtual_stages && static_cast<std::size_t>(order.stage(index, c + 1)) == stage + 1;
    if (!hands_on) continue;
    const StageSizes& next = segments.sizes(segments.first_of_stage(stage + 1));
    chunk.transferred = next.boundary;
    chunk.transferred_gradient = next.boundary_gradient;
  }
  if (s.virtual_stages > 1) add_in_transit(sizes, backwards);
  return sizes;
}

}  // namespace

SegmentTable::SegmentTable(const SizedPlan& plan, Granularity granularity)
    : granularity_(granularity),
      executions_(segments_of(plan, granularity, first_)),
      layout_(segment_layout(plan, executions_)),
      sizes_(sizes_table(plan.graph, layout_, plan.blocks,
                         plan.strategy.virtual_stages > 1 ? CopiesUnderWay::left_to_rank : CopiesUnderWay::counted)) {}

LoweringInput lowering_input(const SizedPlan& plan, const SegmentTable& segments, ComputeSchedule order) {
  const bool keeps = keeps_gradients(plan.strategy, plan.stack.features);
  LoweringInput input{plan.strategy.zero_stage,
                      plan.strategy.prefetch,
                      update_gathers(plan.stack.features),
                      keeps ? GradientScatters::last_backward : GradientScatters::every_backward,
                      std::move(order),
                      {}};
  for (std::int32_t rank = 0; rank < plan.strategy.pipeline_stages; ++rank)
    input.ranks.push_back(rank_sizes(plan, segments, input.schedule, rank));
  return input;
}

LoweringInput lowering_input(const SizedPlan& plan, const SegmentTable& segments) {
  const Strategy& s = plan.strategy;
  return lowering_input(plan, segments, compute_schedule(s.schedule, pipeline_shape(s)));
}

}  // namespace plumbline
