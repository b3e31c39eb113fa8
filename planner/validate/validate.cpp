#include "planner/validate/validate.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/errors.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/trust.h"
#include "planner/validate/memory_basis.h"
#include "planner/validate/row_use.h"

namespace plumbline {
namespace {

bool is_listed(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& each) { return same_name(each, name); });
}

class Validator {
 public:
  Validator(const RowResolver& resolver, Validation& result) : resolver_(resolver), result_(result) {}

  void add(const MeasuredRow& row, const RowSet& set) {
    const std::string& source = set.name;
    const RowUses uses = uses_of(row);
    if (uses.kinds.empty()) {
      skip(row, source, RowKind::time, uses.reason);
      return;
    }
    const Resolution resolution = resolver_.resolve(row.question, set);
    if (!resolution.row) {
      for (const RowKind kind : uses.kinds) skip(row, source, kind, resolution.skipped);
      return;
    }
    try {
      const Plan plan = evaluate(resolution.row->question, resolution.row->strategy);
      for (const RowKind kind : uses.kinds) record(row, source, kind, *resolution.row, plan);
    } catch (const InternalError& error) {
      for (const RowKind kind : uses.kinds) skip(row, source, kind, std::string("our bug: ") + error.what());
    }
  }

 private:
  void skip(const MeasuredRow& row, const std::string& source, RowKind kind, const std::string& reason) {
    result_.skipped.push_back({row.question.id, source, kind, reason});
  }

  void record(const MeasuredRow& row, const std::string& source, RowKind kind, const ResolvedRow& resolved,
              const Plan& plan) {
    RowOutcome outcome;
    outcome.id = row.question.id;
    outcome.source = source;
    outcome.kind = kind;
    outcome.trust = trust_of(row.question, resolved.fields);
    outcome.doubt = resolved.fields.word("doubtful");
    outcome.device = plan.machine.device;
    outcome.stack = plan.provenance.stack_calibration;
    outcome.regime = plan.provenance.trust.regime;
    outcome.run = run_features(resolved.question, resolved.strategy);
    outcome.strategy = to_text(resolved.strategy);
    outcome.assumed = resolved.assumed;
    outcome.predicted_fits = plan.verdict.fits;
    outcome.measured_fits = !row.measured.out_of_memory.value_or(false);
    const double sigma = plan.provenance.trust.memory_sigma;
    if (kind == RowKind::time) {
      outcome.pair = {*measured_time(row), plan.prediction.step_time_s};
    } else if (kind == RowKind::memory) {
      const auto figure = memory_figure(row.measured, resolved.fields);
      check(figure.has_value(), "a row of kind memory has a figure");
      outcome.pair = {figure->bytes, interval_of(predicted_bytes(plan.prediction, *figure), sigma)};
    } else {
      outcome.pair = {static_cast<double>(plan.verdict.capacity.value()),
                      interval_of(static_cast<double>(plan.prediction.peak_memory.value()), sigma)};
      result_.rows.push_back(std::move(outcome));
      return;
    }
    keep_best(question_key(row.question), std::move(outcome));
  }

  /// The fastest run, the largest peak.
  void keep_best(const std::string& question, RowOutcome outcome) {
    const std::string key = outcome.source + "|" + std::string(to_text(outcome.kind)) + "|" + question;
    const auto [found, is_new] = place_.emplace(key, result_.rows.size());
    if (is_new) {
      result_.rows.push_back(std::move(outcome));
      return;
    }
    RowOutcome& held = result_.rows[found->second];
    const bool better = outcome.kind == RowKind::time ? outcome.pair.measured < held.pair.measured
                                                      : outcome.pair.measured > held.pair.measured;
    if (better) std::swap(held, outcome);
    result_.skipped.push_back({outcome.id, outcome.source, outcome.kind,
                               "a repetition of " + held.id +
                                   (outcome.kind == RowKind::time ? ", which was faster" : ", whose peak was larger")});
  }

  const RowResolver& resolver_;
  Validation& result_;
  std::map<std::string, std::size_t> place_;
};

std::string hardware_of(const MeasuredRow& row) { return row.question.fields.word("hardware"); }

bool passes(const ValidationFilter& filter, const RowSet& set, const MeasuredRow& row) {
  return (filter.sources.empty() || is_listed(filter.sources, set.name)) &&
         (filter.devices.empty() || is_listed(filter.devices, hardware_of(row)));
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

Validation validate(const std::vector<RowSet>& sets, const RowResolver& resolver, const ValidationFilter& filter,
                    const std::function<void(std::size_t, std::size_t)>& progress) {
  Validation result;
  Validator validator(resolver, result);
  std::size_t all = 0;
  for (const RowSet& set : sets) all += set.rows.size();
  std::size_t done = 0;
  for (const RowSet& set : sets)
    for (const MeasuredRow& row : set.rows) {
      if (passes(filter, set, row)) validator.add(row, set);
      if (progress) progress(++done, all);
    }
  return result;
}

ValidationSummary summarize(const Validation& validation, const std::string& source) {
  std::map<std::pair<RowKind, RowTrust>, std::vector<PredictedPair>> series;
  ValidationSummary summary;
  for (const RowOutcome& row : validation.rows) {
    if (!source.empty() && row.source != source) continue;
    if (row.kind == RowKind::fit && row.trust == RowTrust::doubtful) {
      ++summary.fit.doubtful;
      continue;
    }
    if (row.kind == RowKind::fit) {
      ++summary.fit.n;
      summary.fit.right += row.is_right() ? 1 : 0;
      continue;
    }
    series[{row.kind, row.trust}].push_back(row.pair);
    if (row.kind != RowKind::time) continue;
    RanCount& ran = row.trust == RowTrust::doubtful ? summary.ran_doubtful : summary.ran;
    ++ran.n;
    ran.predicted_not_to += row.predicted_fits ? 0 : 1;
  }
  const auto of = [&](RowKind kind, RowTrust trust) { return summarize(series[{kind, trust}]); };
  summary.time = of(RowKind::time, RowTrust::trusted);
  summary.memory = of(RowKind::memory, RowTrust::trusted);
  summary.time_inferred = of(RowKind::time, RowTrust::inferred);
  summary.time_doubtful = of(RowKind::time, RowTrust::doubtful);
  summary.memory_inferred = of(RowKind::memory, RowTrust::inferred);
  summary.memory_doubtful = of(RowKind::memory, RowTrust::doubtful);
  return summary;
}

std::vector<std::string> sources_of(const Validation& validation) {
  std::set<std::string> names;
  for (const RowOutcome& row : validation.rows) names.insert(row.source);
  for (const SkippedRow& row : validation.skipped) names.insert(row.source);
  return {names.begin(), names.end()};
}

}  // namespace plumbline
