#include "planner/pricing/peak_memory.h"

#include <algorithm>
#include <utility>

#include "core/cost/stage_memory.h"

namespace plumbline {

StatesOfPlans::StatesOfPlans(const Question& question, std::vector<Strategy> sharing)
    : question_(&question), sharing_(std::move(sharing)) {}

std::span<const HeldStates> StatesOfPlans::of(std::int32_t rank, const StageCost& stage) {
  const auto r = static_cast<std::size_t>(rank);
  if (of_rank_.size() <= r) of_rank_.resize(r + 1);
  std::vector<HeldStates>& held = of_rank_[r];
  if (!held.empty() || sharing_.empty()) return held;
  const RankStates states(stage, sharing_.front());
  const Training& training = question_->training();
  const PrecisionFormats formats = training.formats();
  held.reserve(sharing_.size());
  for (const Strategy& s : sharing_)
    held.push_back(states.of(s, formats, training.optimizer, question_->calibration().stack));
  return held;
}

PeakMemory::PeakMemory(const Question& question, const StageTable& stages, const Strategy& family)
    : question_(&question), stages_(&stages), family_(family) {
  Strategy divided = family;
  divided.zero_stage = std::max(2, family.zero_stage);
  kept_ = kept_gradients(divided, question.calibration().stack.features, question.training().formats());
  informative_ = informative_ranks(stages.layout(), family, kept_);
  ranks_.reserve(informative_.size());
}

const PeakMemory::Rank& PeakMemory::rank(std::size_t i) {
  while (ranks_.size() <= i) {
    const std::int32_t index = informative_[ranks_.size()];
    const PeakLoads load = rank_load(*stages_, family_, index, std::nullopt);
    ranks_.push_back({index, &(*stages_)[static_cast<std::size_t>(index)], load,
                      kept_ ? rank_load(*stages_, family_, index, kept_) : load});
  }
  return ranks_[i];
}

std::vector<Bytes> PeakMemory::of(StatesOfPlans& states, Bytes most) {
  std::vector<Bytes> peaks(states.sharing().size(), Bytes(0));
  const auto are_beyond = [&] {
    return std::all_of(peaks.begin(), peaks.end(), [&](Bytes peak) { return peak > most; });
  };
  for (std::size_t i = 0; i < informative_.size() && !are_beyond(); ++i) {
    const Rank& of = rank(i);
    const std::int32_t site = of.stage->site;
    const std::span<const HeldStates> held = states.of(of.index, *of.stage);
    for (std::size_t s = 0; s < held.size(); ++s) {
      const PeakLoads& load = states.sharing()[s].zero_stage >= 2 ? of.with_gradients : of.load;
      const Bytes total = total_with_load(held[s], load, question_->calibration().stack);
      peaks[s] = std::max(peaks[s], site == 0 ? total : question_->on_smallest(total, site));
    }
  }
  return peaks;
}

Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy) {
  StatesOfPlans states(question, {strategy});
  return PeakMemory(question, stages, strategy).of(states).front();
}

}  // namespace plumbline
