#include "planner/search/candidates.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>

#include "core/cost/time_limits.h"
#include "planner/pricing/priced.h"
#include "planner/search/level_split.h"
#include "planner/search/parallel.h"
#include "planner/search/site_splits.h"

namespace plumbline {
namespace {

auto placement_key(const Strategy& s) { return std::pair(BlockTables::key_of(s), splits_backward(s.schedule)); }
/// At most what a step takes with any recompute: what devices compute and hosts launch without it.
Picoseconds least_of_family(const StageTable& kept, const Strategy& s, const StepPricer& pricer) {
  Picoseconds bound(0);
  Picoseconds before(0);
  const bool fills = !pricer.steps_early(kept, s);
  for (std::size_t rank = 0; rank < kept.size(); ++rank) {
    bound = std::max(bound, before + repeated(kept[rank].passes_with(Picoseconds(0)), s.micro_batches, most_work));
    if (!fills) continue;
    const StageCost& first = kept.stage(rank);
    const Picoseconds drained = splits_backward(s.schedule) ? Picoseconds(0) : first.backward.total();
    before = std::min(before + first.forward.total() + drained, most_work);
  }
  return std::min(bound + pricer.overhead(), most_work);
}

void add_leaf(const Candidate& candidate, Bytes capacity, CandidateBatch& into) {
  if (candidate.peak_memory <= capacity)
    into.fitting.push_back(candidate);
  else
    ++into.too_large;
}

/// Level splits of many families, which share the times of layers and what the rule splits.
class LevelSplits {
 public:
  explicit LevelSplits(const Question& question) : question_(question) {}

  /// One or none.
  std::vector<ChunkLayers> of(const Strategy& s, const BlockTable& blocks) {
    std::vector<ChunkLayers> splits;
    if (s.pipeline_stages == 1) return splits;
    const LayerTimes& times = times_.try_emplace(&blocks, question_.graph(), blocks).first->second;
    ChunkLayers& even = even_[s.chunks()];
    if (even.empty()) even = even_layers(question_.graph(), s.chunks());
    if (auto split = level_split(times, s, even)) splits.push_back(std::move(*split));
    return splits;
  }

 private:
  const Question& question_;
  std::map<const BlockTable*, LayerTimes> times_;
  std::map<std::int64_t, ChunkLayers> even_;
};

/// The strategy that the block tables of a space are priced for. A table holds `by_operator` and replayed groups of
/// layers only where its strategy asks for them (prices_by_operator in planner/pricing/priced.cpp), groups with both.
Recompute recompute_of_samples(const std::vector<Recompute>& choices) {
  Recompute result;
  for (const Recompute& choice : choices) {
    if (joins_layers(choice) || (choice.mode == RecomputeMode::by_operator && !joins_layers(result)))
      result.mode = choice.mode;
    if (!choice.modules.empty()) result.modules = choice.modules;
  }
  return result;
}

}  // namespace

CandidateTable::CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads,
                               StopRequest stop, BlockTables* known)
    : question_(&question),
      enumerator_(question, space),
      stop_(std::move(stop)),
      known_tables_(known != nullptr ? *known : own_tables_),
      placed_(question, known_tables_.programs()) {
  std::map<std::string_view, std::int64_t> illegal;
  std::map<BlockTables::Key, std::size_t> block_index;
  std::map<decltype(placement_key({})), std::size_t> placement_index;
  std::map<decltype(layout_key({})), std::size_t> layout_index;
  std::vector<Strategy> block_samples;
  std::vector<Strategy> placement_samples;
  std::vector<Strategy> layout_samples;
  const std::vector<Recompute>& recompute = enumerator_.recompute_choices();
  const std::size_t choices = recompute.size();
  const auto none = std::find(recompute.begin(), recompute.end(), Recompute{});
  if (none != recompute.end()) none_ = static_cast<std::size_t>(none - recompute.begin());
  for (std::size_t r = 0; r < choices; ++r)
    if (places(r) || r == none_) kept_ = r;
  is_complete_ = enumerator_.for_each_family(
      [&](const Strategy& s, const Violation* violation, std::int64_t leaves) {
        total_ += leaves;
        if (violation != nullptr) {
          illegal[violation->rule.id] += leaves;
          return;
        }
        const std::int64_t of_recompute = leaves / static_cast<std::int64_t>(choices);
        for (std::size_t r = 0; r < choices; ++r) {
          const auto forbidden = enumerator_.violation(s, r);
          if (!forbidden) continue;
          illegal[forbidden->rule.id] += of_recompute;
          leaves -= of_recompute;
        }
        if (leaves == 0) return;
        const auto [block, new_block] = block_index.try_emplace(BlockTables::key_of(s), block_samples.size());
        if (new_block) block_samples.push_back(s);
        const auto [placed, new_placed] = placement_index.try_emplace(placement_key(s), placement_samples.size());
        if (new_placed) placement_samples.push_back(s);
        const auto [layout, new_layout] = layout_index.try_emplace(layout_key(s), layout_samples.size() * choices);
        if (new_layout) layout_samples.push_back(s);
        families_.push_back({s, leaves, of_recompute, block->second, placed->second, layout->second});
      },
      stop_);
  illegal_.assign(illegal.begin(), illegal.end());
  if (!is_complete_) return;
  for (Strategy& sample : block_samples) sample.recompute = recompute_of_samples(recompute);
  block_tables_ = known_tables_.of(question, block_samples, threads, stop_);
  is_complete_ = block_tables_.size() == block_samples.size();
  for (Strategy& sample : placement_samples) sample.recompute = recompute_of_samples(recompute);
  placed_.take(placement_samples);
  if (is_complete_) add_splits(layout_samples, space);
  if (is_complete_) make_layouts(layout_samples, threads);
}

void CandidateTable::add_splits(std::vector<Strategy>& layout_samples, const SearchSpace& space) {
  const bool is_mixed = question_->sites().count() > 1;
  if (!is_mixed && !space.has_level_splits) return;
  LevelSplits levelled(*question_);
  const std::size_t choices = enumerator_.recompute_choices().size();
  std::map<std::pair<decltype(layout_key({})), std::vector<std::int32_t>>, std::size_t> known;
  const std::size_t even_families = families_.size();
  for (std::size_t f = 0; f < even_families && is_complete_; ++f) {
    const FamilyEntry even = families_[f];
    const BlockTable& blocks = *block_tables_[even.blocks];
    for (ChunkLayers& layers :
         is_mixed ? site_splits(*question_, even.strategy, blocks) : levelled.of(even.strategy, blocks)) {
      Strategy s = even.strategy;
      s.layers_per_stage = std::move(layers);
      const std::int64_t of_recompute =
          space.allows ? enumerator_.leaf_count(s) / static_cast<std::int64_t>(choices) : even.of_recompute;
      const std::int64_t leaves = of_recompute * std::ssize(enumerator_.legal_recompute(s));
      if (leaves == 0 || first_violation(s, question_->training(), question_->facts(), question_->limits())) continue;
      const auto [layout, is_new] =
          known.try_emplace({layout_key(s), s.layers_per_stage}, layout_samples.size() * choices);
      if (is_new) layout_samples.push_back(s);
      families_.push_back({s, leaves, of_recompute, even.blocks, even.placements, layout->second});
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
        layouts_[i] = layout_of(*question_, sample, &known_tables_.programs());
      },
      stop_);
}

/// The plans of a family with one recompute choice, bounded.
struct CandidateTable::Bounded {
  Bounded(const Bounded&) = delete;  // what it knows of memory refers to its stages
  Bounded& operator=(const Bounded&) = delete;
  Bounded(const Question& question, StageTable of_stages, const Strategy& s)
      : stages(std::move(of_stages)),
        bound(question.step_pricer().lower_bound(stages, s)),
        // A host too small for its ranks is too small for every leaf: they differ in what devices hold.
        capacity(fits_host(question, stages, s) ? question.capacity() : Bytes(-1)),
        memory(question, stages, s) {}

  StageTable stages;
  Picoseconds bound;
  Bytes capacity;
  PeakMemory memory;  ///< of the stages
};

namespace {

/// The family with every way to share states and one recompute.
StatesOfPlans states_of(const Question& question, const SpaceEnumerator& enumerator, Strategy family,
                        const Recompute& recompute) {
  family.recompute = recompute;
  std::vector<Strategy> sharing;
  for (const SpaceEnumerator::ZeroChoice& choice : enumerator.zero_choices(family))
    choice.apply(sharing.emplace_back(family));
  return {question, std::move(sharing)};
}

}  // namespace

void CandidateTable::bound_family(std::size_t index, CandidateBatch& into) const {
  const FamilyEntry& family = families_[index];
  const std::vector<Recompute>& recomputes = enumerator_.recompute_choices();
  std::map<double, StatesOfPlans> by_recast;  // nearly always one
  std::unique_ptr<Bounded> none;
  for (const std::size_t r : enumerator_.legal_recompute(family.strategy)) {
    const double recast =
        recast_share(recomputes[r], question_->calibration().stack.features, question_->training().formats());
    auto known = by_recast.find(recast);
    if (known == by_recast.end())
      known = by_recast.emplace(recast, states_of(*question_, enumerator_, family.strategy, recomputes[r])).first;
    StatesOfPlans& states = known->second;
    // A placement is bounded as what keeps everything.
    std::unique_ptr<Bounded> own;
    if (!places(r) || !none)
      own = std::make_unique<Bounded>(*question_, StageTable(question_->graph(), layout(family, r), blocks_of(family)),
                                      family.strategy);
    Bounded& all = own ? *own : *none;
    places(r) ? bound_placed(index, r, all, states, into) : bound_leaves(index, r, all, states, into);
    if (r == none_) none = std::move(own);
  }
}

std::vector<std::size_t> CandidateTable::families_by_stages() const {
  std::vector<std::size_t> order(families_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t f) { return std::tuple(families_[f].blocks, families_[f].layouts, f); };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

namespace {

/// The index of a plan among those of its family.
std::int32_t leaf_of(std::size_t zero, std::size_t recompute, std::size_t choices) {
  return static_cast<std::int32_t>(zero * choices + recompute);
}

Candidate candidate_of(std::size_t family, std::int32_t leaf, Picoseconds least_time, Bytes least_memory) {
  Candidate candidate;
  candidate.step_time = least_time;
  candidate.peak_memory = least_memory;
  candidate.family = static_cast<std::int32_t>(family);
  candidate.leaf = leaf;
  return candidate;
}

}  // namespace

std::int64_t CandidateTable::bound_groups(std::span<const std::size_t> families, std::vector<Candidate>& into,
                                          const IsWorth& is_worth) const {
  std::int64_t bounded = 0;
  const auto bound_one = [&](std::size_t index) {
    const FamilyEntry& family = families_[index];
    for (const std::size_t r : enumerator_.legal_recompute(family.strategy)) {
      if (none_ && places(r)) continue;  // with the plans that keep everything
      const StageTable stages(question_->graph(), layout(family, r), blocks_of(family));
      const Picoseconds bound = question_->step_pricer().lower_bound(stages, family.strategy);
      Candidate group = candidate_of(index, static_cast<std::int32_t>(r), bound, Bytes(0));
      group.is_group = true;
      if (is_worth({bound, Bytes(0)}))
        into.push_back(group);
      else
        bounded += plans_of_group(group);
    }
  };
  const FamilyEntry* priced = nullptr;  // whose stages are known
  std::optional<StageTable> kept;
  for (const std::size_t f : families) {
    const FamilyEntry& family = families_[f];
    if (kept_ && (priced == nullptr || priced->blocks != family.blocks || priced->layouts != family.layouts))
      kept.emplace(question_->graph(), layout(family, *kept_), blocks_of(family));
    priced = &family;
    // By a bound that holds for every recompute.
    if (kept && !is_worth({least_of_family(*kept, family.strategy, question_->step_pricer()), Bytes(0)}))
      bounded += family.leaves;
    else
      bound_one(f);
  }
  return bounded;
}

std::int64_t CandidateTable::plans_of_group(const Candidate& group) const {
  const std::int64_t plans = family_of(group).of_recompute;
  if (recompute_of(group) != none_) return plans;
  const auto& choices = enumerator_.recompute_choices();
  return plans * (1 + std::count_if(choices.begin(), choices.end(),
                                    [](const Recompute& choice) { return choice.mode == RecomputeMode::placed; }));
}

void CandidateTable::bound_group(const Candidate& group, CandidateBatch& into) const {
  const auto index = static_cast<std::size_t>(group.family);
  const FamilyEntry& family = families_[index];
  const std::size_t recompute = recompute_of(group);
  into.told_below = Bytes(0);
  StatesOfPlans states =
      states_of(*question_, enumerator_, family.strategy, enumerator_.recompute_choices()[recompute]);
  Bounded all(*question_, StageTable(question_->graph(), layout(family, recompute), blocks_of(family)),
              family.strategy);
  if (!places(recompute)) bound_leaves(index, recompute, all, states, into);
  for (std::size_t r = 0; r < enumerator_.recompute_choices().size(); ++r)
    if (places(r) && (recompute == none_ || recompute == r)) bound_placed(index, r, all, states, into);
}

void CandidateTable::bound_leaves(std::size_t index, std::size_t recompute, Bounded& all, StatesOfPlans& states,
                                  CandidateBatch& into) const {
  const std::vector<Bytes> peaks = all.memory.of(states, std::max(all.capacity, into.told_below));
  const std::size_t choices = enumerator_.recompute_choices().size();
  for (std::size_t z = 0; z < peaks.size(); ++z) {
    const Candidate candidate = candidate_of(index, leaf_of(z, recompute, choices), all.bound, peaks[z]);
    add_leaf(candidate, all.capacity, into);
    if (candidate.peak_memory <= all.capacity || candidate.peak_memory >= into.told_below) continue;
    into.smallest_too_large = candidate;
    into.told_below = candidate.peak_memory;
  }
}

void CandidateTable::bound_placed(std::size_t index, std::size_t recompute, Bounded& all_kept, StatesOfPlans& states,
                                  CandidateBatch& into) const {
  const FamilyEntry& family = families_[index];
  const Bytes certain = std::min(all_kept.capacity, question_->certain_capacity());
  const std::vector<Bytes> kept = none_ ? all_kept.memory.of(states, certain) : std::vector<Bytes>{};
  std::vector<std::size_t> others;  // than those that surely have all the memory that they could use
  for (std::size_t z = 0; z < states.sharing().size(); ++z)
    if (!none_ || kept[z] > certain) others.push_back(z);
  into.dominated += std::ssize(states.sharing()) - std::ssize(others);
  if (others.empty()) return;
  const StageTable least(question_->graph(), layout(family, recompute),
                         placed_.least(family.placements, blocks_of(family)));
  const std::vector<Bytes> peaks = PeakMemory(*question_, least, family.strategy).of(states, all_kept.capacity);
  const std::size_t choices = enumerator_.recompute_choices().size();
  for (const std::size_t z : others)
    add_leaf(candidate_of(index, leaf_of(z, recompute, choices), all_kept.bound, peaks[z]), all_kept.capacity, into);
}

Strategy CandidateTable::strategy(const Candidate& candidate) const {
  const std::size_t choices = enumerator_.recompute_choices().size();
  const Strategy& family = family_of(candidate).strategy;
  Strategy s = family;
  enumerator_.zero_choices(family)[static_cast<std::size_t>(candidate.leaf) / choices].apply(s);
  s.recompute = enumerator_.recompute_choices()[recompute_of(candidate)];
  return s;
}

PlanBound CandidateTable::tighter_bound(const Candidate& candidate, Tighter way) const {
  const FamilyEntry& family = family_of(candidate);
  const StageTable kept(question_->graph(), layout(family, recompute_of(candidate)), blocks_of(family));
  const Strategy s = strategy(candidate);
  const PlanBound known{candidate.step_time, candidate.peak_memory};
  const auto bounded = [&](const RankLayersTable& layers, Restored restored) {
    const UnplacedPlan plan{*question_, s, layers, kept, restored};
    return way == Tighter::least_replay ? with_least_replay(plan, known) : with_surest_fit(plan, known);
  };
  if (way == Tighter::least_replay || way == Tighter::surest_fit)
    return bounded(placed_.bare(family.placements, blocks_of(family)), Restored::ignored);
  if (way == Tighter::surest_capped)
    return bounded(placed_.layers(family.placements, blocks_of(family)), Restored::counted);
  const StepPricer& pricer = question_->step_pricer();
  using Sweep = StepPricer::Sweep;
  const Picoseconds least = pricer.total(kept, s, way == Tighter::without_sweep ? Sweep::left_out : Sweep::whole);
  return {std::max(without_rounding(least), candidate.step_time), candidate.peak_memory};
}

Candidate CandidateTable::priced(const Candidate& candidate) const {
  const FamilyEntry& family = family_of(candidate);
  const Strategy s = strategy(candidate);
  if (is_placed(candidate))
    return placed_.priced(family.placements, blocks_of(family), s, candidate, none_.has_value());
  const StageTable stages(question_->graph(), layout(family, recompute_of(candidate)), blocks_of(family));
  Candidate priced = candidate;
  priced.step_time = question_->step_pricer().total(stages, s);
  priced.outcome = Outcome::priced;
  return priced;
}

void CandidateTable::nearest_placed(std::size_t index, std::optional<Candidate>& smallest) const {
  const FamilyEntry& family = families_[index];
  const std::vector<Strategy> leaves = enumerator_.leaves(family.strategy);
  for (std::size_t leaf = 0; leaf < leaves.size() && !stop_.stop_requested(); ++leaf) {
    const std::size_t recompute = leaf % enumerator_.recompute_choices().size();
    if (!places(recompute)) continue;
    const StageTable least(question_->graph(), layout(family, recompute),
                           placed_.least(family.placements, blocks_of(family)));
    if (smallest && peak_memory(*question_, least, leaves[leaf]) >= smallest->peak_memory) continue;
    const Candidate placed = candidate_of(index, static_cast<std::int32_t>(leaf), Picoseconds(0), Bytes(0));
    const Candidate exact =
        placed_.priced(family.placements, blocks_of(family), leaves[leaf], placed, none_.has_value());
    if (!smallest || exact.peak_memory < smallest->peak_memory) smallest = exact;
  }
}

}  // namespace plumbline
