#include "planner/search/candidates.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "planner/question/priced.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

auto block_key(const Strategy& s) {
  return std::tuple(s.tensor_parallel, s.context_parallel, s.expert_parallel, s.expert_tensor_parallel,
                    s.sequence_parallel, s.micro_batch);
}
auto layout_key(const Strategy& s) { return std::tuple(s.pipeline_stages, s.virtual_stages); }

}  // namespace

CandidateTable::CandidateTable(const Question& question, const SearchSpace& space, std::int32_t threads)
    : question_(&question), enumerator_(question, space) {
  std::map<Rule, std::int64_t> illegal;
  std::map<decltype(block_key({})), std::size_t> block_index;
  std::map<decltype(layout_key({})), std::size_t> layout_index;
  std::vector<Strategy> block_samples;
  std::vector<Strategy> layout_samples;
  const std::size_t choices = enumerator_.recompute_choices().size();
  enumerator_.for_each_family([&](const Strategy& s, const Violation* violation, std::int64_t leaves) {
    total_ += leaves;
    if (violation != nullptr) {
      illegal[violation->rule] += leaves;
      return;
    }
    const auto [block, new_block] = block_index.try_emplace(block_key(s), block_samples.size());
    if (new_block) block_samples.push_back(s);
    const auto [layout, new_layout] = layout_index.try_emplace(layout_key(s), layout_samples.size() * choices);
    if (new_layout) layout_samples.push_back(s);
    families_.push_back({s, leaves, block->second, layout->second});
  });
  illegal_.assign(illegal.begin(), illegal.end());
  block_tables_.resize(block_samples.size());
  parallel_for(block_samples.size(), threads,
               [&](std::size_t i) { block_tables_[i] = block_costs(question, block_samples[i]); });
  layouts_.resize(layout_samples.size() * choices);
  parallel_for(layouts_.size(), threads, [&](std::size_t i) {
    Strategy sample = layout_samples[i / choices];
    sample.recompute = enumerator_.recompute_choices()[i % choices];
    layouts_[i] = layout_of(question, sample);
  });
}

void CandidateTable::bound_family(std::size_t index, CandidateBatch& into) const {
  const FamilyEntry& family = families_[index];
  const std::vector<Strategy> leaves = enumerator_.leaves(family.strategy);
  const std::size_t choices = enumerator_.recompute_choices().size();
  // A host too small for its ranks is too small for every plan.
  const Bytes capacity = fits_host(*question_) ? question_->capacity() : Bytes(-1);
  for (std::size_t r = 0; r < choices; ++r) {
    const StageTable stages(question_->graph(), layout(family, r), block_tables_[family.blocks]);
    const Picoseconds bound = question_->step_pricer().lower_bound(stages, family.strategy);
    for (std::size_t leaf = r; leaf < leaves.size(); leaf += choices) {
      const Candidate candidate{bound, peak_memory(*question_, stages, leaves[leaf]), static_cast<std::int32_t>(index),
                                static_cast<std::int32_t>(leaf)};
      if (candidate.peak_memory <= capacity) {
        into.fitting.push_back(candidate);
        continue;
      }
      ++into.too_large;
      if (!into.smallest_too_large || candidate.peak_memory < into.smallest_too_large->peak_memory)
        into.smallest_too_large = candidate;
    }
  }
}

Strategy CandidateTable::strategy(const Candidate& candidate) const {
  return enumerator_.leaves(
      families_[static_cast<std::size_t>(candidate.family)].strategy)[static_cast<std::size_t>(candidate.leaf)];
}

Picoseconds CandidateTable::step_time(const Strategy& strategy, std::size_t index) const {
  const FamilyEntry& family = families_[index];
  const auto& choices = enumerator_.recompute_choices();
  const auto recompute =
      static_cast<std::size_t>(std::find(choices.begin(), choices.end(), strategy.recompute) - choices.begin());
  const StageTable stages(question_->graph(), layout(family, recompute), block_tables_[family.blocks]);
  return question_->step_pricer().price(stages, strategy).total();
}

}  // namespace plumbline
