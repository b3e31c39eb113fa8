#include "planner/launch/reductions.h"

#include <map>

#include "core/program/action_kinds.h"
#include "planner/pricing/simulated.h"

namespace plumbline {
namespace {

/// The same buckets with fewer micro-batches, with the same layers, and without the search for a recompute.
Strategy shortened(const Question& question, Strategy s, const std::vector<Chunk>& chunks) {
  const std::int64_t most = std::int64_t{4} * s.pipeline_stages;
  if (s.micro_batches > most) s.micro_batches = most + s.micro_batches % s.pipeline_stages;
  s.recompute = {};
  s.split = StageSplit::even;
  s.layers_per_stage.clear();
  if (chunks.size() == 1) return s;
  const std::vector<BlockId> sequence = question.graph().sequence();
  for (const Chunk& chunk : chunks) {
    std::int32_t& layers = s.layers_per_stage.emplace_back(0);
    for (std::int64_t e = chunk.first; e < chunk.last; ++e)
      if (question.graph().block(sequence[static_cast<std::size_t>(e)]).kind() == BlockKind::layer) ++layers;
  }
  return s;
}

StageReductions reductions_of(const RankProgram& rank) {
  std::map<std::int32_t, std::pair<std::int32_t, std::int32_t>> ends;  // by chunk: its first and last micro-batch
  for (const Action& action : rank.actions) {
    if (weight_gradients_of(action) == nullptr) continue;
    ends.try_emplace(action.chunk, action.micro_batch, action.micro_batch);
    ends[action.chunk].second = action.micro_batch;
  }
  StageReductions reductions;
  for (const Action& action : rank.actions) {
    const auto* reduction = std::get_if<GradientReduction>(&action.what);
    if (reduction == nullptr || reduction->units.count == 0) continue;
    const auto units = units_of(action, rank);
    const auto of_chunk = ends.find(action.chunk);
    const bool is_once = reduction->pass() == Pass::step || of_chunk == ends.end();
    if (is_once || action.micro_batch == of_chunk->second.second)
      reductions.last.emplace_back(units.begin(), units.end());
    else if (action.micro_batch == of_chunk->second.first)
      reductions.each.emplace_back(units.begin(), units.end());
  }
  return reductions;
}

}  // namespace

std::vector<StageReductions> stage_reductions(const Question& question, const Strategy& strategy,
                                              const std::vector<Chunk>& chunks) {
  SimulationOptions options;
  options.granularity = Granularity::block;
  options.scattering = Scattering::by_unit;
  std::vector<StageReductions> all;
  for (const RankProgram& rank : simulated(question, shortened(question, strategy, chunks), options).program.ranks)
    all.push_back(reductions_of(rank));
  return all;
}

}  // namespace plumbline
