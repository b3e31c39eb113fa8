#include "core/program/lower.h"

#include "core/base/errors.h"
#include "core/program/passes.h"

namespace plumbline {
namespace {

enum class Buffers : std::uint8_t { left_out, added };

RankProgram lowered_rank(const passes::RankContext& context, Buffers buffers) {
  RankProgram rank;
  for (const ChunkSizes& chunk : context.sizes().chunks) {
    std::vector<Segment>& segments = rank.chunks.emplace_back();
    for (const SegmentSizes& segment : chunk.segments) segments.push_back(segment.executions);
  }
  rank.actions = passes::compute(context);
  passes::add_recompute(context, rank.actions);
  for (const auto pass : {passes::add_collectives, passes::add_transfers, passes::add_gathers, passes::add_reductions})
    rank.actions = pass(context, rank.actions);
  passes::add_copies(context, rank.actions);
  passes::add_optimizer_step(context, rank.actions);
  rank.units = context.units.take();
  if (buffers == Buffers::left_out) return rank;
  passes::add_buffers(context, rank);
  // Passes reserve for the most that they may add: of many ranks and micro-batches that is hundreds of megabytes.
  rank.actions.shrink_to_fit();
  rank.uses.shrink_to_fit();
  rank.buffers.shrink_to_fit();
  rank.units.shrink_to_fit();
  return rank;
}

Program lowered(const LoweringInput& input, Buffers buffers) {
  check(input.ranks.size() == input.schedule.ranks.size(), "every rank of the order has its sizes");
  Program program{
      .shape = input.schedule.shape, .placement = input.schedule.placement, .ranks = {}, .blocks = input.blocks};
  for (std::int32_t rank = 0; rank < input.schedule.shape.pipeline_stages; ++rank) {
    passes::UnitTable units(input.ranks[static_cast<std::size_t>(rank)]);
    program.ranks.push_back(lowered_rank({input, rank, units}, buffers));
  }
  passes::link(program, input);
  return program;
}

}  // namespace

Program lower(const LoweringInput& input) { return lowered(input, Buffers::added); }
Program lower_without_buffers(const LoweringInput& input) { return lowered(input, Buffers::left_out); }

LoweringInput scattered_by_unit(LoweringInput input) {
  if (input.zero_stage < 2) return input;
  for (RankSizes& rank : input.ranks) rank.scatter_bucket_share = rank.late_share = 0;
  return input;
}

}  // namespace plumbline
