#include "cli/validate/benchmark_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace plumbline {
namespace {

constexpr std::string_view official_section = "MLPerf";

std::string benchmark_of(const RunOutcome& run) {
  const std::size_t comma = run.section.rfind(", ");
  return comma == std::string::npos ? run.section : run.section.substr(comma + 2);
}

}  // namespace

bool is_official(const RunOutcome& run) { return run.held_out && run.section.starts_with(official_section); }

std::vector<BenchmarkGroup> official_benchmarks(const Validation& validation) {
  std::map<std::pair<std::string, std::string>, BenchmarkGroup> groups;
  for (const RunOutcome& run : validation.runs) {
    if (run.kind != RunKind::time || !is_official(run)) continue;
    BenchmarkGroup& group = groups[{benchmark_of(run), run.device}];
    group.system = run.device;
    group.benchmark = benchmark_of(run);
    group.runs.push_back(run);
  }
  std::vector<BenchmarkGroup> sorted;
  for (auto& [key, group] : groups) {
    std::stable_sort(group.runs.begin(), group.runs.end(),
                     [](const RunOutcome& a, const RunOutcome& b) { return a.devices < b.devices; });
    sorted.push_back(std::move(group));
  }
  return sorted;
}

std::vector<RunOutcome> public_reports(const Validation& validation, RunKind kind) {
  std::vector<RunOutcome> runs;
  std::copy_if(validation.runs.begin(), validation.runs.end(), std::back_inserter(runs),
               [kind](const RunOutcome& run) { return run.kind == kind && run.held_out && !is_official(run); });
  return runs;
}

SeriesSummary summarize(const std::vector<RunOutcome>& runs) {
  std::vector<PredictedPair> pairs;
  pairs.reserve(runs.size());
  for (const RunOutcome& run : runs) pairs.push_back(run.pair);
  return summarize(std::span<const PredictedPair>(pairs));
}

std::optional<double> drift_per_doubling(const std::vector<RunOutcome>& runs) {
  std::set<std::int64_t> sizes;
  std::vector<double> doublings;
  std::vector<double> errors;
  for (const RunOutcome& run : runs) {
    sizes.insert(run.devices);
    doublings.push_back(std::log2(static_cast<double>(run.devices)));
    errors.push_back(run.pair.error());
  }
  if (sizes.size() < 3) return std::nullopt;
  const double centre = mean(doublings);
  double above = 0;
  double below = 0;
  for (std::size_t i = 0; i < doublings.size(); ++i) {
    above += (doublings[i] - centre) * errors[i];
    below += (doublings[i] - centre) * (doublings[i] - centre);
  }
  return above / below;
}

}  // namespace plumbline
