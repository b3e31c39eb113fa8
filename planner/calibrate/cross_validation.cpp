#include "planner/calibrate/cross_validation.h"

#include <algorithm>
#include <map>

#include "planner/calibrate/folds.h"
#include "planner/calibrate/informative_runs.h"
#include "planner/calibrate/recalibrated.h"
#include "planner/calibrate/shipped_fit.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

/// What a test starts from, and what it fits.
struct Fitting {
  const std::vector<FitRun>& runs;
  const CalibrationSet& set;
  const ParameterSpace& space;
  const PriorTable& priors;
};

std::vector<TestedRun> test(const Fitting& fitting, const Trained& trained, const std::vector<std::size_t>& tested) {
  const CalibrationSet shipped =
      fitted_set(fitting.set, fitting.space, trained, fitting.runs, fitting.priors, "fit without the tested runs");
  std::vector<TestedRun> result;
  for (const std::size_t i : tested) {
    const ShippedPrediction predicted = shipped_prediction(shipped, fitting.runs[i]);
    result.push_back({i, predicted.step_s, predicted.regime});
  }
  return result;
}

void report(const CrossValidationOptions& options, const std::string& phase) {
  if (options.progress) options.progress(phase);
}

std::size_t run_count(const std::vector<FitRun>& runs, const CrossValidationOptions& options) {
  return options.first_runs == 0 ? runs.size() : options.first_runs;
}

/// The fold of every run; of one that is never tested, none of them.
std::vector<std::size_t> folds_of_tested(const std::vector<FitRun>& runs, const CrossValidationOptions& options) {
  const std::vector<std::string>& sources = options.tested_sources;
  const auto is_tested = [&](const FitRun& run) {
    return sources.empty() || std::find(sources.begin(), sources.end(), run.source) != sources.end();
  };
  std::vector<std::string> groups;
  const std::size_t count = run_count(runs, options);
  for (std::size_t i = 0; i < count; ++i)
    if (is_tested(runs[i])) groups.push_back(runs[i].group);
  const std::vector<std::size_t> tested = folds_of(groups, options.folds);
  std::vector<std::size_t> folds;
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) folds.push_back(is_tested(runs[i]) ? tested[next++] : options.folds);
  return folds;
}

/// Those of `candidates` that would tell most about the others, by what is known before any of them was measured.
std::vector<std::size_t> chosen_of(const std::vector<FitRun>& runs, const std::vector<std::size_t>& candidates,
                                   const Knowledge& known, const ParameterSpace& space,
                                   const CrossValidationOptions& options) {
  FitProblem problem = recalibration(known, space, {});
  problem.predict = [&](std::size_t i, std::span<const double> x) { return space.log_step(runs[candidates[i]], x); };
  for (const std::size_t i : candidates) problem.observations.push_back({0, 1, space.unknowns_of(runs[i])});
  std::vector<LogSensitivity> sensitivities(candidates.size());
  parallel_for(candidates.size(), thread_count(options.fit.threads), [&](std::size_t i) {
    const double log_step = problem.predict(i, known.unknowns);
    sensitivities[i] = {problem.observations[i].unknowns,
                        derivatives(problem, i, known.unknowns, log_step, options.fit.derivative_step)};
  });
  const RemainingUncertainty remaining(problem.priors, known.unknowns.size(), sensitivities);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : informative_runs(remaining, options.runs_for_calibration))
    chosen.push_back(candidates[place]);
  return chosen;
}

LeftOutStack leave_out(const std::string& framework, const Fitting& fitting, const CrossValidationOptions& options) {
  const auto& [runs, set, space, priors] = fitting;
  std::vector<std::size_t> others;
  std::vector<std::size_t> own;
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < run_count(runs, options); ++i) {
    const bool is_own = set.software_stack(runs[i].stack).framework == framework;
    (is_own ? own : others).push_back(i);
    if (is_own && runs[i].trust == RunTrust::trusted) candidates.push_back(i);
  }
  LeftOutStack result{framework, {}, {}, {}};
  const Trained trained(space, runs, others, options.fit);
  result.without = test(fitting, trained, own);
  const Knowledge known = with_devices_held(knowledge_of(trained.result()), space);
  result.chosen = chosen_of(runs, candidates, known, space, options);
  const Recalibrated after(known, space, runs, result.chosen, options.fit);
  for (const std::size_t i : own)
    if (std::find(result.chosen.begin(), result.chosen.end(), i) == result.chosen.end())
      result.after.push_back({i, after.predict(runs[i], trained.noise(runs[i].run_class, CalibrationRegime::few_runs)),
                              CalibrationRegime::few_runs});
  return result;
}

}  // namespace

std::vector<TestedRun> cross_validate(const std::vector<FitRun>& runs, const CalibrationSet& set,
                                      const ParameterSpace& space, const PriorTable& priors,
                                      const CrossValidationOptions& options) {
  const Fitting fitting{runs, set, space, priors};
  const std::vector<std::size_t> folds = folds_of_tested(runs, options);
  std::vector<TestedRun> result;
  for (std::size_t fold = 0; fold < options.folds && !options.fit.stop.stop_requested(); ++fold) {
    if (options.only_fold != 0 && options.only_fold != fold + 1) continue;
    report(options, "fold " + std::to_string(fold + 1) + " of " + std::to_string(options.folds));
    std::vector<std::size_t> training;
    std::vector<std::size_t> tested;
    for (std::size_t i = 0; i < folds.size(); ++i) (folds[i] == fold ? tested : training).push_back(i);
    const Trained trained(space, runs, training, options.fit);
    for (TestedRun one : test(fitting, trained, tested)) {
      one.fold = fold + 1;
      result.push_back(one);
    }
  }
  std::sort(result.begin(), result.end(), [](const TestedRun& a, const TestedRun& b) { return a.run < b.run; });
  return result;
}

std::vector<LeftOutStack> leave_stacks_out(const std::vector<FitRun>& runs, const CalibrationSet& set,
                                           const ParameterSpace& space, const PriorTable& priors,
                                           const CrossValidationOptions& options) {
  const Fitting fitting{runs, set, space, priors};
  std::map<std::string, std::size_t> trusted;
  for (std::size_t i = 0; i < run_count(runs, options); ++i)
    if (runs[i].trust == RunTrust::trusted) ++trusted[set.software_stack(runs[i].stack).framework];
  std::vector<LeftOutStack> result;
  for (const auto& [framework, count] : trusted) {
    if (count <= options.runs_for_calibration || options.fit.stop.stop_requested()) continue;
    report(options, "without " + framework);
    result.push_back(leave_out(framework, fitting, options));
  }
  return result;
}

}  // namespace plumbline
