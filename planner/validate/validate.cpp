#include "planner/validate/validate.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "core/base/errors.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/trust.h"
#include "planner/validate/memory_basis.h"
#include "planner/validate/run_use.h"

namespace plumbline {
namespace {

bool is_listed(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& each) { return same_name(each, name); });
}

class Validator {
 public:
  Validator(const RunResolver& resolver, Validation& result) : resolver_(resolver), result_(result) {}

  void add(const MeasuredRun& run, const RunSet& set) {
    const std::string& source = set.name;
    const RunUses uses = uses_of(run);
    if (uses.kinds.empty()) {
      skip(run, source, RunKind::time, uses.reason);
      return;
    }
    const Resolution resolution = resolver_.resolve(run.question, set);
    if (!resolution.run) {
      for (const RunKind kind : uses.kinds) skip(run, source, kind, resolution.skipped);
      return;
    }
    try {
      const Plan plan = evaluate(resolution.run->question, resolution.run->strategy);
      for (const RunKind kind : uses.kinds) record(run, set, kind, *resolution.run, plan);
    } catch (const InternalError& error) {
      for (const RunKind kind : uses.kinds) skip(run, source, kind, std::string("our bug: ") + error.what());
    }
  }

 private:
  void skip(const MeasuredRun& run, const std::string& source, RunKind kind, const std::string& reason) {
    result_.skipped.push_back({run.question.id, source, kind, reason});
  }

  void record(const MeasuredRun& run, const RunSet& set, RunKind kind, const ResolvedRun& resolved, const Plan& plan) {
    RunOutcome outcome;
    outcome.id = run.question.id;
    outcome.source = set.name;
    outcome.held_out = set.held_out;
    outcome.kind = kind;
    outcome.trust = trust_of(run.question, resolved.fields);
    outcome.doubt = resolved.fields.word("doubtful");
    outcome.device = plan.machine.device;
    outcome.stack = plan.provenance.stack_calibration;
    outcome.regime = plan.provenance.trust.regime;
    outcome.features = run_features(resolved.question, resolved.strategy);
    outcome.strategy = to_text(resolved.strategy);
    outcome.section = resolved.fields.word("section");
    outcome.devices = resolved.question.devices();
    outcome.confidence = plan.provenance.trust;
    outcome.assumed = resolved.assumed;
    outcome.predicted_fits = plan.verdict.fits;
    outcome.measured_fits = !run.measured.out_of_memory.value_or(false);
    const double sigma = plan.provenance.trust.memory_sigma;
    if (kind == RunKind::time) {
      outcome.pair = {measured_time(run, resolved.question, resolved.strategy), plan.prediction.step_time_s};
    } else if (kind == RunKind::memory) {
      const auto figure = memory_figure(run.measured, resolved.fields);
      check(figure.has_value(), "a run of kind memory has a figure");
      outcome.pair = {figure->bytes, interval_of(predicted_bytes(plan.prediction, *figure), sigma)};
    } else {
      outcome.pair = {static_cast<double>(plan.verdict.capacity.value()),
                      interval_of(static_cast<double>(plan.prediction.peak_memory.value()), sigma)};
      result_.runs.push_back(std::move(outcome));
      return;
    }
    keep_best(question_key(run.question), std::move(outcome));
  }

  /// The fastest run, the largest peak.
  void keep_best(const std::string& question, RunOutcome outcome) {
    const std::string key = outcome.source + "|" + std::string(to_text(outcome.kind)) + "|" + question;
    const auto [found, is_new] = place_.emplace(key, result_.runs.size());
    if (is_new) {
      result_.runs.push_back(std::move(outcome));
      return;
    }
    RunOutcome& held = result_.runs[found->second];
    const bool better = outcome.kind == RunKind::time ? outcome.pair.measured < held.pair.measured
                                                      : outcome.pair.measured > held.pair.measured;
    if (better) std::swap(held, outcome);
    result_.skipped.push_back({outcome.id, outcome.source, outcome.kind,
                               "a repetition of " + held.id +
                                   (outcome.kind == RunKind::time ? ", which was faster" : ", whose peak was larger")});
  }

  const RunResolver& resolver_;
  Validation& result_;
  std::map<std::string, std::size_t> place_;
};

std::string hardware_of(const MeasuredRun& run) { return run.question.fields.word("hardware"); }

bool passes(const ValidationFilter& filter, const RunSet& set, const MeasuredRun& run) {
  return (filter.sources.empty() || is_listed(filter.sources, set.name)) &&
         (filter.devices.empty() || is_listed(filter.devices, hardware_of(run)));
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Validation validate(const std::vector<RunSet>& sets, const RunResolver& resolver, const ValidationFilter& filter,
                    const Task& task) {
  Validation result;
  Validator validator(resolver, result);
  std::int64_t all = 0;
  for (const RunSet& set : sets) all += std::ssize(set.runs);
  std::int64_t done = 0;
  for (const RunSet& set : sets) {
    result.unread.insert(set.unread.begin(), set.unread.end());
    for (const MeasuredRun& run : set.runs) {
      if (task.is_stopped()) {
        result.complete = false;
        return result;
      }
      if (passes(filter, set, run)) validator.add(run, set);
      task.report({"runs", ++done, all});
    }
  }
  return result;
}

ValidationSummary summarize(const Validation& validation, const std::string& source) {
  std::map<std::pair<RunKind, RunTrust>, std::vector<PredictedPair>> series;
  ValidationSummary summary;
  for (const RunOutcome& run : validation.runs) {
    if (!source.empty() && run.source != source) continue;
    if (run.kind == RunKind::fit && run.trust == RunTrust::doubtful) {
      ++summary.fit.doubtful;
      continue;
    }
    if (run.kind == RunKind::fit) {
      ++summary.fit.n;
      summary.fit.right += run.is_right() ? 1 : 0;
      continue;
    }
    series[{run.kind, run.trust}].push_back(run.pair);
    if (run.kind != RunKind::time) continue;
    RanCount& ran = run.trust == RunTrust::doubtful ? summary.ran_doubtful : summary.ran;
    ++ran.n;
    ran.predicted_not_to += run.predicted_fits ? 0 : 1;
  }
  const auto of = [&](RunKind kind, RunTrust trust) { return summarize(series[{kind, trust}]); };
  summary.time = of(RunKind::time, RunTrust::trusted);
  summary.memory = of(RunKind::memory, RunTrust::trusted);
  summary.time_inferred = of(RunKind::time, RunTrust::inferred);
  summary.time_doubtful = of(RunKind::time, RunTrust::doubtful);
  summary.memory_inferred = of(RunKind::memory, RunTrust::inferred);
  summary.memory_doubtful = of(RunKind::memory, RunTrust::doubtful);
  return summary;
}

namespace {

Validation runs_where(const Validation& validation, bool held_out) {
  Validation part;
  part.complete = validation.complete;
  std::copy_if(validation.runs.begin(), validation.runs.end(), std::back_inserter(part.runs),
               [held_out](const RunOutcome& run) { return run.held_out == held_out; });
  return part;
}

}  // namespace

Validation held_out_part(const Validation& validation) { return runs_where(validation, true); }
Validation fitted_part(const Validation& validation) { return runs_where(validation, false); }

std::vector<std::string> sources_of(const Validation& validation) {
  std::set<std::string> names;
  for (const RunOutcome& run : validation.runs) names.insert(run.source);
  for (const SkippedRun& run : validation.skipped) names.insert(run.source);
  return {names.begin(), names.end()};
}

}  // namespace plumbline
