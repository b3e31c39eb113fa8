#include "planner/session/search/around_words.h"

#include <algorithm>

#include "planner/present/numbers.h"
#include "planner/search/ties.h"

namespace plumbline::present {
namespace {

using session::AroundAnswer;

double figure_of(const Plan& plan, Objective objective) {
  return objective == Objective::least_memory ? static_cast<double>(plan.prediction.peak_memory.value())
                                              : plan.prediction.step_time_s.expected;
}

PredictedStep predicted(const Plan& plan) {
  return {plan.prediction.step_time_s.expected, own_error_share * plan.provenance.trust.time_sigma};
}

std::string gain_text(const Change& change, const Plan& start, Objective objective) {
  const std::string_view name = objective == Objective::least_memory ? "peak memory " : "step time ";
  return std::string(name) + difference_text(figure_of(change.plan, objective), figure_of(start, objective)) +
         " with " + to_text(change.steps);
}

std::string noise_words(const Change& best, const Plan& start) {
  const double noise = noise_between(predicted(best.plan), predicted(start));
  const double gain = 1 - best.plan.prediction.step_time_s.expected / start.prediction.step_time_s.expected;
  if (gain > noise) return "";
  return "That is within the model's noise between two plans (" + per_cent_text(noise) + "): measure both.";
}

/// The fitting change of fewest steps, where it is not the best one.
const Change* smallest_fitting(const std::vector<Change>& changes) {
  const auto least = std::min_element(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    if (a.plan.verdict.fits != b.plan.verdict.fits) return a.plan.verdict.fits;
    return a.steps.size() < b.steps.size();
  });
  return least == changes.begin() || !least->plan.verdict.fits ? nullptr : &*least;
}

std::string times(std::int32_t changes) { return changes == 1 ? "one change" : std::to_string(changes) + " changes"; }

void add_best(std::vector<std::string>& sentences, const AroundAnswer& answer, Objective objective) {
  const Plan& start = answer.start;
  const Change& best = answer.nearby.front();
  if (!session::is_better(best.plan, start, objective)) {
    sentences.push_back("Nothing within " + times(answer.changes) + " is better than the plan as it is.");
    return;
  }
  sentences.push_back("Best within " + times(answer.changes) + ": " + gain_text(best, start, objective) + ".");
  if (!start.verdict.fits) {
    if (const Change* least = smallest_fitting(answer.nearby);
        least != nullptr && least->steps.size() < best.steps.size())
      sentences.push_back("Least change that fits: " + gain_text(*least, start, objective) + ".");
  } else if (objective != Objective::least_memory) {
    if (std::string noise = noise_words(best, start); !noise.empty()) sentences.push_back(std::move(noise));
  }
}

}  // namespace

std::vector<std::string> around_words(const AroundAnswer& answer, Objective objective) {
  std::vector<std::string> sentences;
  if (answer.nearby.empty())
    sentences.push_back("No other plan that fits is within " + times(answer.changes) + ".");
  else
    add_best(sentences, answer, objective);
  if (answer.whole)
    sentences.push_back("With any number of changes: " + gain_text(*answer.whole, answer.start, objective) + ".");
  if (!answer.complete) sentences.emplace_back("Interrupted: the best so far, not the best there is.");
  return sentences;
}

}  // namespace plumbline::present
