#pragma once
/// \file scoring.h: what plans of a search's questions score (objective.h).

#include <vector>

#include "planner/question/question.h"
#include "planner/search/ranked_strategy.h"

namespace plumbline {

class Scoring {
 public:
  Scoring(const std::vector<Question>& questions, Objective objective) : objective_(objective) {
    for (const Question& question : questions) of_.push_back({question.devices(), question.certain_capacity()});
  }

  /// A plan of this step time and memory; bounds of these bound the score.
  [[nodiscard]] Score operator()(Picoseconds step, Bytes peak, std::size_t question) const {
    const OfQuestion& of = of_[question];
    return score(objective_, peak <= of.certain ? MemoryFit::certain : MemoryFit::uncertain, step, of.devices, peak);
  }
  /// By its simulated step, where there is one.
  [[nodiscard]] Score operator()(const RankedStrategy& plan) const {
    return (*this)(plan.ranking_step(), plan.peak_memory, plan.question);
  }
  /// The memory of a question's devices that surely fits.
  [[nodiscard]] Bytes certain_capacity(std::size_t question) const { return of_[question].certain; }

 private:
  struct OfQuestion {
    std::int64_t devices = 0;
    Bytes certain;
  };
  Objective objective_;
  std::vector<OfQuestion> of_;
};

}  // namespace plumbline
