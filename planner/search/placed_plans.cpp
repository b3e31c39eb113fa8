#include "planner/search/placed_plans.h"

#include <algorithm>

#include "planner/checkpointing/placement.h"
#include "planner/pricing/peak_memory.h"

namespace plumbline {
namespace {

/// Every block runs as if nothing were recomputed and keeps what none of its choices can do without.
BlockTable with_least_kept(BlockTable blocks, const Question& question, const Strategy& sample) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    VariantSizes least = blocks[b].variant(Variant::kept);
    for (std::size_t v = 0; v < blocks[b].variants.size(); ++v)
      if (v < Variant::modules || v >= Variant::first_placed)
        least.memory.saved = std::min(least.memory.saved, blocks[b].variants[v].memory.saved);
    const Block& block = question.graph().blocks()[b % question.graph().blocks().size()];
    if (block.kind() == BlockKind::layer)
      least.memory.saved = std::min(least.memory.saved, least_kept(block, question, sample));
    blocks[b].variants = {std::move(least)};
    blocks[b].variant_times.resize(1);
  }
  return blocks;
}

bool replays_nothing(const StageLayout& layout, const std::vector<BlockCost>& blocks, const Graph& graph) {
  const std::vector<BlockId> sequence = graph.sequence();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (graph.block(sequence[i]).kind() != BlockKind::layer) continue;
    const BlockCost& block = blocks[layout.arrangement.cost_index(sequence[i], i, graph.blocks().size())];
    const auto& replayed = block.variant(layout.arrangement.variants[i]).replayed;
    if (std::find(replayed.begin(), replayed.end(), true) != replayed.end()) return false;
  }
  return true;
}

}  // namespace

void PlacedPlans::take(const std::vector<Strategy>& samples) {
  for (const Strategy& sample : samples) choices_.emplace_back().sample = sample;
}

const BlockTable& PlacedPlans::least(std::size_t of, const BlockTable& blocks) const {
  Choices& choices = choices_[of];
  std::call_once(choices.least_once, [&] { choices.least = with_least_kept(blocks, *question_, choices.sample); });
  return choices.least;
}

const RankLayersTable& PlacedPlans::bare(std::size_t of, const BlockTable& blocks) const {
  Choices& choices = choices_[of];
  std::call_once(choices.bare_once, [&] {
    choices.bare_blocks = blocks;
    if (choices.sample.recompute.mode != RecomputeMode::by_operator)
      add_by_operator(choices.bare_blocks, *question_, choices.sample, programs_);
    add_choices(choices.bare_blocks, *question_, choices.sample);
    choices.bare_layers.emplace(choices.bare_blocks, Restored::ignored);
  });
  return *choices.bare_layers;
}

const RankLayersTable& PlacedPlans::layers(std::size_t of, const BlockTable& blocks) const {
  Choices& choices = choices_[of];
  std::call_once(choices.once, [&] {
    choices.blocks = bare(of, blocks).blocks();
    add_choices_working(choices.blocks, *question_, choices.sample, programs_);
    choices.layers.emplace(choices.blocks);
  });
  return *choices.layers;
}

Candidate PlacedPlans::priced(std::size_t of, const BlockTable& blocks, const Strategy& s, Candidate candidate,
                              bool has_unplaced) const {
  const RankLayersTable& choices = layers(of, blocks);
  const StageLayout placed = layout_of(*question_, s, choices);
  const StageTable stages(question_->graph(), placed, choices.blocks());
  candidate.peak_memory = peak_memory(*question_, stages, s);
  const bool fits = candidate.peak_memory <= question_->capacity() && fits_host(*question_, stages, s);
  candidate.outcome = fits ? Outcome::priced : Outcome::infeasible;
  if (fits && has_unplaced && replays_nothing(placed, choices.blocks(), question_->graph()))
    candidate.outcome = Outcome::repeated;
  else
    candidate.step_time = question_->step_pricer().total(stages, s);
  return candidate;
}

}  // namespace plumbline
