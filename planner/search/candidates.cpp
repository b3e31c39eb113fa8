#include "planner/search/candidates.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/cost/time_limits.h"
#include "planner/checkpointing/placement.h"
#include "planner/pricing/priced.h"
#include "planner/search/parallel.h"
#include "planner/search/site_splits.h"

namespace plumbline {
namespace {

/// A price is rounded to picoseconds term by term: far less than a part in a million of it.
constexpr std::int64_t most_rounding = 1'000'000;

auto block_key(const Strategy& s) {
  return std::tuple(s.tensor_parallel, s.context_parallel, s.expert_parallel, s.expert_tensor_parallel,
                    s.sequence_parallel, s.micro_batch, splits_backward(s.schedule));
}
auto layout_key(const Strategy& s) { return std::tuple(s.pipeline_stages, s.virtual_stages, placement(s.schedule)); }

/// Every block runs as if nothing were recomputed and keeps what none of its choices can do without.
std::vector<BlockCost> least_of(std::vector<BlockCost> blocks, const Question& question, const Strategy& sample) {
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    BlockVariant least = blocks[b].variant(Variant::kept);
    for (std::size_t v = 0; v < blocks[b].variants.size(); ++v)
      if (v != Variant::modules && v != Variant::offloaded)
        least.memory.saved = std::min(least.memory.saved, blocks[b].variants[v].memory.saved);
    const Block& block = question.graph().blocks()[b % question.graph().blocks().size()];
    if (block.kind() == BlockKind::layer)
      least.memory.saved = std::min(least.memory.saved, least_kept(block, question, sample));
    blocks[b].variants = {std::move(least)};
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

CandidateTable::CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads,
                               StopRequest stop)
    : question_(&question), enumerator_(question, space), stop_(std::move(stop)) {
  std::map<std::string_view, std::int64_t> illegal;
  std::map<decltype(block_key({})), std::size_t> block_index;
  std::map<decltype(layout_key({})), std::size_t> layout_index;
  std::vector<Strategy> block_samples;
  std::vector<Strategy> layout_samples;
  const std::vector<Recompute>& recompute = enumerator_.recompute_choices();
  const std::size_t choices = recompute.size();
  const auto none = std::find(recompute.begin(), recompute.end(), Recompute{});
  if (none != recompute.end()) none_ = static_cast<std::size_t>(none - recompute.begin());
  is_complete_ = enumerator_.for_each_family(
      [&](const Strategy& s, const Violation* violation, std::int64_t leaves) {
        total_ += leaves;
        if (violation != nullptr) {
          illegal[violation->rule.id] += leaves;
          return;
        }
        const auto [block, new_block] = block_index.try_emplace(block_key(s), block_samples.size());
        if (new_block) block_samples.push_back(s);
        const auto [layout, new_layout] = layout_index.try_emplace(layout_key(s), layout_samples.size() * choices);
        if (new_layout) layout_samples.push_back(s);
        families_.push_back({s, leaves, block->second, layout->second});
      },
      stop_);
  illegal_.assign(illegal.begin(), illegal.end());
  if (is_complete_) price_blocks(block_samples, threads);
  if (is_complete_) add_site_splits(layout_samples);
  if (is_complete_) make_layouts(layout_samples, threads);
}

void CandidateTable::price_blocks(const std::vector<Strategy>& samples, std::int32_t threads) {
  const std::vector<Recompute>& recompute = enumerator_.recompute_choices();
  const bool any_placed =
      std::any_of(recompute.begin(), recompute.end(), [](Recompute r) { return r.mode == RecomputeMode::placed; });
  block_tables_.resize(samples.size());
  if (any_placed) least_tables_.resize(samples.size());
  for (const Strategy& sample : samples) {
    Strategy& own = choices_.emplace_back().sample;
    own = sample;
    if (any_placed) own.recompute = Recompute{RecomputeMode::placed, 1};
    for (const Recompute& choice : recompute)
      if (!choice.modules.empty()) own.recompute.modules = choice.modules;
  }
  is_complete_ = parallel_for(
      samples.size(), threads,
      [&](std::size_t i) {
        const Strategy& sample = choices_[i].sample;
        block_tables_[i] = bare_block_costs(*question_, sample);
        if (any_placed) least_tables_[i] = least_of(block_tables_[i], *question_, sample);
      },
      stop_);
}

void CandidateTable::add_site_splits(std::vector<Strategy>& layout_samples) {
  if (question_->sites().count() == 1) return;
  const std::size_t choices = enumerator_.recompute_choices().size();
  std::map<std::pair<decltype(layout_key({})), std::vector<std::int32_t>>, std::size_t> known;
  const std::size_t even_families = families_.size();
  for (std::size_t f = 0; f < even_families && is_complete_; ++f) {
    const FamilyEntry even = families_[f];
    for (std::vector<std::int32_t>& layers : site_splits(*question_, even.strategy, block_tables_[even.blocks])) {
      Strategy s = even.strategy;
      s.layers_per_stage = std::move(layers);
      const auto leaves = static_cast<std::int64_t>(enumerator_.leaves(s).size());
      if (leaves == 0 || first_violation(s, question_->training(), question_->facts(), question_->limits())) continue;
      const auto [layout, is_new] =
          known.try_emplace({layout_key(s), s.layers_per_stage}, layout_samples.size() * choices);
      if (is_new) layout_samples.push_back(s);
      families_.push_back({s, leaves, even.blocks, layout->second});
      total_ += leaves;
    }
    is_complete_ = !stop_.stop_requested();
  }
}

void CandidateTable::make_layouts(const std::vector<Strategy>& samples, std::int32_t threads) {
  const std::vector<Recompute>& recompute = enumerator_.recompute_choices();
  const std::size_t choices = recompute.size();
  layouts_.resize(samples.size() * choices);
  is_complete_ = parallel_for(
      layouts_.size(), threads,
      [&](std::size_t i) {
        Strategy sample = samples[i / choices];
        if (!places(i % choices)) sample.recompute = recompute[i % choices];
        layouts_[i] = layout_of(*question_, sample);
      },
      stop_);
}

void CandidateTable::bound_family(std::size_t index, CandidateBatch& into, const IsWorth& is_worth) const {
  const FamilyEntry& family = families_[index];
  const std::vector<Strategy> leaves = enumerator_.leaves(family.strategy);
  const std::size_t choices = enumerator_.recompute_choices().size();
  for (std::size_t r = 0; r < choices; ++r) {
    const StageTable stages(question_->graph(), layout(family, r), block_tables_[family.blocks]);
    // A host too small for its ranks is too small for every leaf: they differ in what devices hold.
    const Bytes capacity = fits_host(*question_, stages, family.strategy) ? question_->capacity() : Bytes(-1);
    if (places(r)) {
      bound_placed(index, r, stages, leaves, capacity, into, is_worth);
      continue;
    }
    const Picoseconds bound = question_->step_pricer().lower_bound(stages, family.strategy);
    if (is_worth && !is_worth(bound)) {
      into.bounded += static_cast<std::int64_t>(leaves.size() / choices);
      continue;
    }
    const PeakMemory memory(*question_, stages, family.strategy);
    for (std::size_t leaf = r; leaf < leaves.size(); leaf += choices) {
      const Candidate candidate{bound, memory.of(leaves[leaf]), static_cast<std::int32_t>(index),
                                static_cast<std::int32_t>(leaf)};
      bound_leaf(candidate, capacity, into);
      const bool is_too_large = candidate.peak_memory > capacity;
      if (is_too_large && (!into.smallest_too_large || candidate.peak_memory < into.smallest_too_large->peak_memory))
        into.smallest_too_large = candidate;
    }
  }
}

void CandidateTable::bound_leaf(const Candidate& candidate, Bytes capacity, CandidateBatch& into) const {
  if (candidate.peak_memory <= capacity)
    into.fitting.push_back(candidate);
  else
    ++into.too_large;
}

void CandidateTable::bound_placed(std::size_t index, std::size_t recompute, const StageTable& all_kept,
                                  const std::vector<Strategy>& leaves, Bytes capacity, CandidateBatch& into,
                                  const IsWorth& is_worth) const {
  const FamilyEntry& family = families_[index];
  const StageTable least(question_->graph(), all_kept.layout(), least_tables_[family.blocks]);
  const Picoseconds bound = question_->step_pricer().lower_bound(least, family.strategy);
  if (is_worth && !is_worth(bound)) {
    into.bounded += static_cast<std::int64_t>(leaves.size() / enumerator_.recompute_choices().size());
    return;
  }
  const PeakMemory most_memory(*question_, all_kept, family.strategy);
  const PeakMemory least_memory(*question_, least, family.strategy);
  const Bytes certain = question_->certain_capacity();
  for (std::size_t leaf = recompute; leaf < leaves.size(); leaf += enumerator_.recompute_choices().size()) {
    if (none_ && most_memory.of(leaves[leaf]) <= std::min(capacity, certain)) {
      ++into.dominated;
      continue;
    }
    bound_leaf(
        {bound, least_memory.of(leaves[leaf]), static_cast<std::int32_t>(index), static_cast<std::int32_t>(leaf)},
        capacity, into);
  }
}

Strategy CandidateTable::strategy(const Candidate& candidate) const {
  return enumerator_.leaves(
      families_[static_cast<std::size_t>(candidate.family)].strategy)[static_cast<std::size_t>(candidate.leaf)];
}

CandidatePrice CandidateTable::price(const Candidate& candidate, const IsWorth& is_worth) const {
  const FamilyEntry& family = families_[static_cast<std::size_t>(candidate.family)];
  const std::size_t recompute = static_cast<std::size_t>(candidate.leaf) % enumerator_.recompute_choices().size();
  const Strategy s = strategy(candidate);
  if (places(recompute)) {
    // Cheap before dear: the price with nothing recomputed, which replay only adds to, but for rounding.
    const StageTable kept(question_->graph(), layout(family, recompute), block_tables_[family.blocks]);
    const Picoseconds least = question_->step_pricer().total(kept, s);
    if (!is_worth(std::max(least - least / most_rounding, candidate.bound))) return {Outcome::bounded, {}, {}};
    const auto bound = placed_bound(family, recompute, s);
    if (bound && !is_worth(*bound)) return {Outcome::bounded, {}, {}};
    return price_placed(family, s);
  }
  const StageTable stages(question_->graph(), layout(family, recompute), block_tables_[family.blocks]);
  return {Outcome::priced, question_->step_pricer().total(stages, s), candidate.peak_memory};
}

std::optional<Picoseconds> CandidateTable::placed_bound(const FamilyEntry& family, std::size_t recompute,
                                                        const Strategy& s) const {
  const StageLayout& kept = layout(family, recompute);
  const StageTable stages(question_->graph(), kept, block_tables_[family.blocks]);
  const RecomputePlacer placer(*question_, s, layers_of(family));
  Picoseconds bound(0);
  // The first chunks of the ranks before, as their mean or as they are: nothing begins here earlier or ends later.
  Picoseconds before(0);
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
    const StageCost& stage = stages[static_cast<std::size_t>(rank)];
    const auto replay = placer.least_replay(placer.chunks_of(kept, rank), stage, rank);
    if (!replay) return std::nullopt;
    bound = std::max(bound, before + repeated(stage.passes_with(*replay), s.micro_batches, most_work));
    if (bound > longest_step) return bound;
    const StageCost& first = stages.stage(static_cast<std::size_t>(rank));
    const auto passes = [&](const StageCost& cost) {
      return splits_backward(s.schedule) ? cost.forward.total() : cost.forward_total() + cost.backward_total();
    };
    before += std::min(passes(stage) / std::int64_t{s.virtual_stages}, passes(first));
  }
  return bound + question_->step_pricer().overhead();
}

const RankLayersTable& CandidateTable::layers_of(const FamilyEntry& family) const {
  Choices& choices = choices_[family.blocks];
  std::call_once(choices.once, [&] {
    choices.blocks = block_tables_[family.blocks];
    add_choices(choices.blocks, *question_, choices.sample);
    add_choices_working(choices.blocks, *question_, choices.sample);
    choices.layers.emplace(choices.blocks);
  });
  return *choices.layers;
}

CandidatePrice CandidateTable::price_placed(const FamilyEntry& family, const Strategy& s) const {
  const RankLayersTable& layers = layers_of(family);
  const StageLayout placed = layout_of(*question_, s, layers);
  const StageTable stages(question_->graph(), placed, layers.blocks());
  const Bytes peak = peak_memory(*question_, stages, s);
  const bool fits = peak <= question_->capacity() && fits_host(*question_, stages, s);
  if (fits && none_ && replays_nothing(placed, layers.blocks(), question_->graph()))
    return {Outcome::repeated, {}, peak};
  return {fits ? Outcome::priced : Outcome::infeasible, question_->step_pricer().total(stages, s), peak};
}

void CandidateTable::nearest_placed(std::size_t index, std::optional<Candidate>& smallest) const {
  const FamilyEntry& family = families_[index];
  const std::vector<Strategy> leaves = enumerator_.leaves(family.strategy);
  for (std::size_t leaf = 0; leaf < leaves.size() && !stop_.stop_requested(); ++leaf) {
    const std::size_t recompute = leaf % enumerator_.recompute_choices().size();
    if (!places(recompute)) continue;
    const StageTable least(question_->graph(), layout(family, recompute), least_tables_[family.blocks]);
    if (smallest && peak_memory(*question_, least, leaves[leaf]) >= smallest->peak_memory) continue;
    const CandidatePrice exact = price_placed(family, leaves[leaf]);
    if (!smallest || exact.peak_memory < smallest->peak_memory)
      smallest = {exact.step, exact.peak_memory, static_cast<std::int32_t>(index), static_cast<std::int32_t>(leaf)};
  }
}

}  // namespace plumbline
