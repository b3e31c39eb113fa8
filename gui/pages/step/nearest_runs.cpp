#include "gui/pages/step/nearest_runs.h"

#include <algorithm>
#include <cmath>

#include "models/measurement_catalog.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr double other_kind = 2;

present::Cell value_cell(RunKind kind, double value) {
  if (kind == RunKind::memory) return present::gib_cell(Bytes(std::llround(value)), 2);
  return present::decimal(value, 3);
}

}  // namespace

std::vector<RunOutcome> MeasuredRuns::of_device(const std::string& device, const StopRequest& stop) {
  if (const auto known = of_device_.find(device); known != of_device_.end()) return known->second;
  const RunResolver resolver({run_aliases()}, run_assumptions());
  const ValidationFilter filter{{device}, {}};
  std::vector<RunOutcome> runs;
  for (RunSet& set : published_runs()) {
    if (stop.stop_requested()) return runs;
    std::vector<RunSet> one;
    one.push_back(std::move(set));
    for (RunOutcome& run : validate(one, resolver, filter).runs) runs.push_back(std::move(run));
  }
  return of_device_[device] = std::move(runs);
}

double distance(const RunFeatures& one, const RunFeatures& other) {
  double sum = (one.network != other.network ? other_kind : 0) + (one.format != other.format ? other_kind : 0);
  for (std::size_t i = 0; i < run_scale_count; ++i) {
    const auto a = static_cast<double>(std::max<std::int64_t>(1, one.scales[i]));
    const auto b = static_cast<double>(std::max<std::int64_t>(1, other.scales[i]));
    sum += std::fabs(std::log2(a / b));
  }
  return sum;
}

std::vector<RunOutcome> nearest(std::vector<RunOutcome> runs, const RunFeatures& features) {
  std::erase_if(runs, [](const RunOutcome& run) { return run.kind == RunKind::fit || run.trust != RunTrust::trusted; });
  std::stable_sort(runs.begin(), runs.end(), [&](const RunOutcome& a, const RunOutcome& b) {
    return distance(a.features, features) < distance(b.features, features);
  });
  if (runs.size() > most_near_runs) runs.resize(most_near_runs);
  return runs;
}

present::Table near_runs_table(const std::vector<RunOutcome>& runs) {
  using present::Unit;
  present::Table table{
      {{"run", "nearest measured run", Unit::text, "its name in the file of measured runs", present::Align::left},
       {"kind", "of", Unit::text, "seconds of a step, or GiB of peak memory", present::Align::left,
        present::Keep::unless_constant},
       {"measured", "measured", Unit::number, "as published"},
       {"predicted", "predicted", Unit::number, "from its configuration alone"},
       {"error", "error", Unit::per_cent, "predicted against measured"},
       {"strategy", "strategy", Unit::text, "how it was run", present::Align::left, present::Keep::always, 1}},
      {}};
  for (const RunOutcome& run : runs)
    table.rows.push_back({present::words(run.id), present::words(run.kind == RunKind::time ? "step s" : "peak GiB"),
                          value_cell(run.kind, run.pair.measured), value_cell(run.kind, run.pair.predicted.expected),
                          present::difference_cell(run.pair.predicted.expected, run.pair.measured),
                          present::words(run.strategy)});
  return table;
}

}  // namespace plumbline::gui
