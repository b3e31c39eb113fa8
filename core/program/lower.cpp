#include "core/program/lower.h"

#include "core/base/errors.h"
#include "core/program/passes.h"

namespace plumbline {
namespace {

RankProgram lowered_rank(const passes::RankContext& context) {
  RankProgram rank;
  for (const ChunkSizes& chunk : context.sizes().chunks) {
    std::vector<Segment>& segments = rank.chunks.emplace_back();
    for (const SegmentSizes& segment : chunk.segments) segments.push_back(segment.executions);
  }
  rank.actions = passes::compute(context);
  for (const auto pass : {passes::add_recompute, passes::add_collectives, passes::add_transfers, passes::add_gathers,
                          passes::add_reductions, passes::add_copies, passes::add_optimizer_step})
    rank.actions = pass(context, rank.actions);
  passes::add_buffers(context, rank);
  rank.units = context.units.take();
  // Passes reserve for the most that they may add: of many ranks and micro-batches that is hundreds of megabytes.
  rank.actions.shrink_to_fit();
  rank.uses.shrink_to_fit();
  rank.buffers.shrink_to_fit();
  rank.units.shrink_to_fit();
  return rank;
}

}  // namespace

Program lower(const LoweringInput& input) {
  check(input.ranks.size() == input.schedule.ranks.size(), "every rank of the order has its sizes");
  Program program{input.schedule.shape, input.schedule.placement, {}};
  for (std::int32_t rank = 0; rank < input.schedule.shape.pipeline_stages; ++rank) {
    passes::UnitTable units(input.ranks[static_cast<std::size_t>(rank)]);
    program.ranks.push_back(lowered_rank({input, rank, units}));
  }
  passes::link(program);
  return program;
}

}  // namespace plumbline
