#include "core/cost/program_sizes.h"

#include <cmath>

#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

std::vector<Chunk> pieces_of(const PricedPlan& plan, Granularity granularity, std::vector<std::size_t>& first) {
  std::vector<Chunk> pieces;
  for (const Chunk& chunk : split_into_chunks(plan.graph, plan.strategy.chunks())) {
    first.push_back(pieces.size());
    if (granularity == Granularity::chunk) {
      pieces.push_back(chunk);
      continue;
    }
    for (std::int64_t i = chunk.first; i < chunk.last; ++i) pieces.push_back({i, i + 1});
  }
  first.push_back(pieces.size());
  return pieces;
}

StageLayout piece_layout(const PricedPlan& plan, const std::vector<Chunk>& pieces) {
  return stage_layout(plan.graph, pieces, static_cast<std::int32_t>(pieces.size()), plan.strategy.recompute);
}

Bytes share(Bytes whole, std::int64_t part, std::int64_t total) {
  if (total == 0) return Bytes(0);
  return Bytes(
      std::llround(static_cast<double>(whole.value()) * static_cast<double>(part) / static_cast<double>(total)));
}

PassBytes pass_bytes(const WireBytes& sent) { return {sent.tensor, sent.context, sent.expert}; }
PassBytes backward_bytes(const StageCost& piece) {
  return {piece.wire.tensor - piece.wire_forward.tensor, piece.wire.context - piece.wire_forward.context,
          piece.wire.expert - piece.wire_forward.expert};
}

PieceSizes piece_sizes(const Chunk& executions, const StageCost& piece, const StageCost& rank,
                       const SharingBytes& sharing) {
  PieceSizes sizes;
  sizes.executions = {static_cast<std::int32_t>(executions.first), static_cast<std::int32_t>(executions.last)};
  sizes.restores = piece.recompute.total() > Picoseconds(0) ? Restores::something : Restores::nothing;
  sizes.saved = piece.saved;
  sizes.working_forward = piece.working_forward;
  sizes.working_backward = piece.working;
  sizes.logits = piece.logits;
  sizes.forward = pass_bytes(piece.wire_forward);
  sizes.backward = backward_bytes(piece);
  sizes.gather = share(sharing.gather, piece.parameters.total(), rank.parameters.total());
  sizes.scatter = share(sharing.scatter, piece.parameters.trained(), rank.parameters.trained());
  return sizes;
}

/// The closed form's states, without what the program's own buffers hold.
std::vector<PersistentBytes> persistent(MemoryBreakdown memory, const StageCost& rank, Bytes received) {
  memory[MemoryClass::working_buffers] -= rank.working;
  memory[MemoryClass::communication_buffers] -= std::int64_t{2} * received;
  std::vector<PersistentBytes> states;
  for (const MemoryClass c :
       {MemoryClass::weights, MemoryClass::gradients, MemoryClass::master_weights, MemoryClass::optimizer_state,
        MemoryClass::working_buffers, MemoryClass::communication_buffers, MemoryClass::framework_and_context})
    states.push_back({c, memory[c]});
  return states;
}

RankSizes rank_sizes(const PricedPlan& plan, const PieceTable& pieces, std::int32_t index) {
  const Strategy& s = plan.strategy;
  const PrecisionFormats formats = plan.training.formats();
  const StageCost& rank = plan.ranks[static_cast<std::size_t>(index)];
  const SharingBytes sharing = plan.steps.sharing_bytes(rank, s);
  RankSizes sizes;
  sizes.received = s.pipeline_stages > 1 ? rank.boundary : Bytes(0);
  sizes.persistent =
      persistent(stage_memory(rank, s, formats, plan.training.optimizer, plan.stack, index), rank, sizes.received);
  if (s.zero_stage >= 3) sizes.gathered_parameters = gathered_unit_bytes(rank.largest_unit_parameters, formats.weight);
  if (s.zero_stage >= 2) sizes.gathered_gradients = gathered_unit_bytes(rank.largest_unit_trained, formats.gradient);
  sizes.reduction = sharing.reduction;
  const bool is_end = index == 0 || index + 1 == s.pipeline_stages;
  if (is_end) sizes.tied = plan.steps.tied_bytes(plan.ranks, s);
  for (std::int32_t c = 0; c < s.virtual_stages; ++c) {
    const auto stage = static_cast<std::size_t>(stage_of(placement(s.schedule), s.pipeline_stages, index, c));
    ChunkSizes& chunk = sizes.chunks.emplace_back();
    for (std::size_t i = pieces.first_of_stage(stage); i < pieces.first_of_stage(stage + 1); ++i)
      chunk.pieces.push_back(piece_sizes(pieces.executions()[i], pieces.cost(i), rank, sharing));
    chunk.boundary = pieces.cost(pieces.first_of_stage(stage)).boundary;
  }
  return sizes;
}

}  // namespace

PieceTable::PieceTable(const PricedPlan& plan, Granularity granularity)
    : executions_(pieces_of(plan, granularity, first_)),
      layout_(piece_layout(plan, executions_)),
      costs_(plan.graph, layout_, plan.blocks) {}

LoweringInput lowering_input(const PricedPlan& plan, const PieceTable& pieces) {
  const Strategy& s = plan.strategy;
  const PipelineShape shape{s.pipeline_stages, s.virtual_stages, static_cast<std::int32_t>(s.micro_batches)};
  LoweringInput input{s.zero_stage, compute_schedule(s.schedule, shape), {}};
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) input.ranks.push_back(rank_sizes(plan, pieces, rank));
  return input;
}

}  // namespace plumbline
