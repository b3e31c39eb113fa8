#include "planner/calibrate/cross_validation.h"

#include <algorithm>
#include <map>

#include "planner/calibrate/folds.h"
#include "planner/calibrate/informative_rows.h"
#include "planner/calibrate/recalibrated.h"
#include "planner/search/parallel.h"

namespace plumbline {
namespace {

using Counts = std::map<std::pair<std::string, RowClass>, std::size_t>;

Counts counts_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& trained) {
  Counts counts;
  for (const std::size_t i : trained) ++counts[{rows[i].stack, rows[i].row_class}];
  return counts;
}

CalibrationRegime regime_of(const Counts& counts, const FitRow& row) {
  const auto found = counts.find({row.stack, row.row_class});
  return plumbline::regime_of(found == counts.end() ? 0 : found->second);
}

std::vector<TestedRow> test(const Trained& trained, const std::vector<FitRow>& rows,
                            const std::vector<std::size_t>& tested) {
  const Counts counts = counts_of(rows, trained.fitted());
  std::vector<TestedRow> result;
  for (const std::size_t i : tested) result.push_back({i, trained.predict(rows[i]), regime_of(counts, rows[i])});
  return result;
}

void report(const CrossValidationOptions& options, const std::string& phase) {
  if (options.progress) options.progress(phase);
}

/// The fold of every row; of one that is never tested, none of them.
std::vector<std::size_t> folds_of_tested(const std::vector<FitRow>& rows, const CrossValidationOptions& options) {
  const std::vector<std::string>& sources = options.tested_sources;
  const auto is_tested = [&](const FitRow& row) {
    return sources.empty() || std::find(sources.begin(), sources.end(), row.source) != sources.end();
  };
  std::vector<std::string> groups;
  for (const FitRow& row : rows)
    if (is_tested(row)) groups.push_back(row.group);
  const std::vector<std::size_t> tested = folds_of(groups, options.folds);
  std::vector<std::size_t> folds;
  std::size_t next = 0;
  for (const FitRow& row : rows) folds.push_back(is_tested(row) ? tested[next++] : options.folds);
  return folds;
}

/// Those of `candidates` that would tell most about the others, by what is known before any of them was measured.
std::vector<std::size_t> chosen_of(const std::vector<FitRow>& rows, const std::vector<std::size_t>& candidates,
                                   const Knowledge& known, const ParameterSpace& space,
                                   const CrossValidationOptions& options) {
  FitProblem problem = recalibration(known, space, {});
  problem.predict = [&](std::size_t i, std::span<const double> x) { return space.log_step(rows[candidates[i]], x); };
  for (const std::size_t i : candidates) problem.observations.push_back({0, 1, space.unknowns_of(rows[i])});
  std::vector<LogSensitivity> sensitivities(candidates.size());
  parallel_for(candidates.size(), thread_count(options.fit.threads), [&](std::size_t i) {
    const double log_step = problem.predict(i, known.unknowns);
    sensitivities[i] = {problem.observations[i].unknowns,
                        derivatives(problem, i, known.unknowns, log_step, options.fit.derivative_step)};
  });
  const RemainingUncertainty remaining(problem.priors, known.unknowns.size(), sensitivities);
  std::vector<std::size_t> chosen;
  for (const std::size_t place : informative_rows(remaining, options.rows_for_calibration))
    chosen.push_back(candidates[place]);
  return chosen;
}

LeftOutStack leave_out(const std::string& framework, const std::vector<FitRow>& rows, const CalibrationSet& set,
                       const ParameterSpace& space, const CrossValidationOptions& options) {
  std::vector<std::size_t> others;
  std::vector<std::size_t> own;
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_own = set.software_stack(rows[i].stack).framework == framework;
    (is_own ? own : others).push_back(i);
    if (is_own && rows[i].trust == RowTrust::trusted) candidates.push_back(i);
  }
  LeftOutStack result{framework, {}, {}, {}};
  const Trained trained(space, rows, others, options.fit);
  result.without = test(trained, rows, own);
  const Knowledge known = with_devices_held(knowledge_of(trained.result()), space);
  result.chosen = chosen_of(rows, candidates, known, space, options);
  const Recalibrated after(known, space, rows, result.chosen, options.fit);
  for (const std::size_t i : own)
    if (std::find(result.chosen.begin(), result.chosen.end(), i) == result.chosen.end())
      result.after.push_back({i, after.predict(rows[i], trained.noise(rows[i].row_class, CalibrationRegime::few_rows)),
                              CalibrationRegime::few_rows});
  return result;
}

}  // namespace

CalibrationRegime regime_of(std::size_t rows) {
  if (rows == 0) return CalibrationRegime::unknown;
  return rows < rows_of_calibrated ? CalibrationRegime::few_rows : CalibrationRegime::calibrated;
}

std::vector<TestedRow> cross_validate(const std::vector<FitRow>& rows, const ParameterSpace& space,
                                      const CrossValidationOptions& options) {
  const std::vector<std::size_t> folds = folds_of_tested(rows, options);
  std::vector<TestedRow> result;
  for (std::size_t fold = 0; fold < options.folds && !options.fit.stop.stop_requested(); ++fold) {
    if (options.only_fold != 0 && options.only_fold != fold + 1) continue;
    report(options, "fold " + std::to_string(fold + 1) + " of " + std::to_string(options.folds));
    std::vector<std::size_t> training;
    std::vector<std::size_t> tested;
    for (std::size_t i = 0; i < rows.size(); ++i) (folds[i] == fold ? tested : training).push_back(i);
    const Trained trained(space, rows, training, options.fit);
    for (TestedRow one : test(trained, rows, tested)) {
      one.fold = fold + 1;
      result.push_back(one);
    }
  }
  std::sort(result.begin(), result.end(), [](const TestedRow& a, const TestedRow& b) { return a.row < b.row; });
  return result;
}

std::vector<LeftOutStack> leave_stacks_out(const std::vector<FitRow>& rows, const CalibrationSet& set,
                                           const ParameterSpace& space, const CrossValidationOptions& options) {
  std::map<std::string, std::size_t> trusted;
  for (const FitRow& row : rows)
    if (row.trust == RowTrust::trusted) ++trusted[set.software_stack(row.stack).framework];
  std::vector<LeftOutStack> result;
  for (const auto& [framework, count] : trusted) {
    if (count <= options.rows_for_calibration || options.fit.stop.stop_requested()) continue;
    report(options, "without " + framework);
    result.push_back(leave_out(framework, rows, set, space, options));
  }
  return result;
}

}  // namespace plumbline
