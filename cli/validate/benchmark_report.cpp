#include "cli/validate/benchmark_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/validate/benchmark_runs.h"
#include "core/base/escape.h"
#include "core/quantity/text.h"
#include "planner/session/validate/validate.h"

namespace plumbline {
namespace {

std::string cells(const SeriesSummary& s) {
  return std::to_string(s.n) + " | " + present::share_text(s.mape) + " | " + present::share_text(s.median) + " | " +
         present::signed_share_text(s.bias) + " | " + present::signed_share_text(s.worst) + " | " +
         present::share_text(s.coverage);
}

std::string gpu_range(const std::vector<RunOutcome>& runs) {
  const auto [few, many] = std::minmax_element(
      runs.begin(), runs.end(), [](const RunOutcome& a, const RunOutcome& b) { return a.devices < b.devices; });
  const std::string least = std::to_string(few->devices);
  return few->devices == many->devices ? least : least + " to " + std::to_string(many->devices);
}

std::string drift_cell(const std::vector<RunOutcome>& runs) {
  const std::optional<double> drift = drift_per_doubling(runs);
  return drift ? present::signed_share_text(*drift) : "";
}

std::string benchmark_row(const std::string& benchmark, const std::string& system,
                          const std::vector<RunOutcome>& runs) {
  return "| " + benchmark + " | " + system + " | " + gpu_range(runs) + " | " + cells(summarize(runs)) + " | " +
         drift_cell(runs) + " |\n";
}

std::vector<RunOutcome> all_of(const std::vector<BenchmarkGroup>& groups) {
  std::vector<RunOutcome> all;
  for (const BenchmarkGroup& group : groups) all.insert(all.end(), group.runs.begin(), group.runs.end());
  return all;
}

std::string by_benchmark(const std::vector<BenchmarkGroup>& groups) {
  std::string text =
      "| benchmark | system | GPUs | n | MAPE | median | bias | worst | inside the interval | drift a doubling |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const BenchmarkGroup& group : groups)
    text += benchmark_row(markdown_text(group.benchmark), markdown_text(group.system), group.runs);
  return text + benchmark_row("**all**", "", all_of(groups));
}

/// Of benchmark and of system alone.
std::string by_one(const std::vector<BenchmarkGroup>& groups, std::string BenchmarkGroup::*which,
                   const std::string& title) {
  std::map<std::string, std::vector<RunOutcome>> parts;
  for (const BenchmarkGroup& group : groups) {
    std::vector<RunOutcome>& part = parts[group.*which];
    part.insert(part.end(), group.runs.begin(), group.runs.end());
  }
  std::string text = "| " + title +
                     " | GPUs | n | MAPE | median | bias | worst | inside the interval |\n"
                     "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& [name, runs] : parts)
    text += "| " + markdown_text(name) + " | " + gpu_range(runs) + " | " + cells(summarize(runs)) + " |\n";
  return text;
}

std::string by_size(const std::vector<RunOutcome>& runs) {
  constexpr std::array<std::int64_t, 5> most{8, 64, 512, 4096, std::numeric_limits<std::int64_t>::max()};
  std::string text =
      "| GPUs | n | MAPE | median | bias | worst | inside the interval |\n|---|---:|---:|---:|---:|---:|---:|\n";
  std::int64_t above = 0;
  for (const std::int64_t limit : most) {
    std::vector<RunOutcome> part;
    for (const RunOutcome& run : runs)
      if (run.devices > above && run.devices <= limit) part.push_back(run);
    above = limit;
    if (!part.empty()) text += "| " + gpu_range(part) + " | " + cells(summarize(part)) + " |\n";
  }
  return text;
}

std::string reports_table(const Validation& validation) {
  std::string text =
      "| of | n | MAPE | median | bias | worst | inside the interval |\n|---|---:|---:|---:|---:|---:|---:|\n";
  for (const auto& [kind, name] : {std::pair{RunKind::time, "step time"}, std::pair{RunKind::memory, "peak memory"}})
    if (const std::vector<RunOutcome> runs = public_reports(validation, kind); !runs.empty())
      text += std::string("| ") + name + " | " + cells(summarize(runs)) + " |\n";
  text +=
      "\n| run | of | GPUs | measured | predicted | error | inside the interval |\n|---|---|---:|---:|---:|---:|---|\n";
  for (const RunKind kind : {RunKind::time, RunKind::memory})
    for (const RunOutcome& run : public_reports(validation, kind)) {
      const Interval& predicted = run.pair.predicted;
      const bool inside = predicted.low <= run.pair.measured && run.pair.measured <= predicted.high;
      text += "| " + markdown_text(run.id) + " | " + (kind == RunKind::time ? "time" : "memory") + " | " +
              std::to_string(run.devices) + " | " + present::value_text(run, run.pair.measured) + " | " +
              present::value_text(run, predicted.expected) + " | " + present::signed_share_text(run.pair.error()) +
              " | " + (inside ? "yes" : "**no**") + " |\n";
    }
  return text;
}

std::string beyond_text(const RunOutcome& run) {
  std::string text;
  for (const std::string& one : run.confidence.beyond) text += (text.empty() ? "" : "; ") + one;
  return text.empty() ? "nothing" : text;
}

/// Runs outside of their interval: what they were priced by, and in what they lie beyond its runs.
std::string outside_table(const std::vector<RunOutcome>& runs) {
  std::vector<RunOutcome> outside;
  for (const RunOutcome& run : runs)
    if (run.pair.measured < run.pair.predicted.low || run.pair.measured > run.pair.predicted.high)
      outside.push_back(run);
  if (outside.empty()) return "Every measured value lies inside of its interval.\n";
  std::stable_sort(outside.begin(), outside.end(), [](const RunOutcome& a, const RunOutcome& b) {
    return std::abs(a.pair.error()) > std::abs(b.pair.error());
  });
  std::string text =
      "| run | of | GPUs | error | stack | calibrated by | beyond what was measured "
      "|\n|---|---|---:|---:|---|---|---|\n";
  for (const RunOutcome& run : outside)
    text += "| " + markdown_text(run.id) + " | " + std::string(to_text(run.kind)) + " | " +
            std::to_string(run.devices) + " | " + present::signed_share_text(run.pair.error()) + " | " +
            markdown_text(run.stack) + " | " + markdown_text(run.regime) + " | " + markdown_text(beyond_text(run)) +
            " |\n";
  return text;
}

/// Groups whose runs all err to one side, by more than a tenth in the mean.
std::string one_sided(const std::vector<BenchmarkGroup>& groups) {
  constexpr double much = 0.1;
  std::string text;
  for (const BenchmarkGroup& group : groups) {
    const SeriesSummary s = summarize(group.runs);
    const bool same = std::all_of(group.runs.begin(), group.runs.end(), [&](const RunOutcome& run) {
      return (run.pair.error() > 0) == (group.runs.front().pair.error() > 0);
    });
    if (!same || std::abs(s.bias) < much) continue;
    std::map<std::string, int> stacks;
    for (const RunOutcome& run : group.runs) ++stacks[run.stack + " (" + run.regime + ")"];
    std::string by;
    for (const auto& [stack, count] : stacks) by += (by.empty() ? "" : ", ") + stack;
    text += "* " + markdown_text(group.name()) + ": " + std::to_string(s.n) + (s.n == 1 ? " run, " : " runs, all ") +
            present::share_text(std::abs(s.bias)) + (s.bias > 0 ? " too slow" : " too fast") +
            (s.n == 1 ? "" : " in the mean") + "; priced by " + markdown_text(by) + ".\n";
  }
  return text.empty() ? "" : "Groups that err to one side, by more than a tenth in the mean:\n\n" + text + "\n";
}

std::string fits_of(const Validation& validation) {
  std::int64_t n = 0;
  std::int64_t right = 0;
  std::string wrong;
  for (const RunOutcome& run : validation.runs) {
    if (run.kind != RunKind::fit || !run.held_out) continue;
    ++n;
    right += run.is_right() ? 1 : 0;
    if (!run.is_right())
      wrong += "\n* " + markdown_text(run.id) + ": " + present::value_text(run, run.pair.predicted.expected) +
               " predicted of " + present::value_text(run, run.pair.measured) + ", yet it " +
               (run.measured_fits ? "ran" : "ran out of memory");
  }
  return "Fits or not: " + std::to_string(right) + " of " + std::to_string(n) + " right.\n" + wrong + "\n";
}

}  // namespace

std::string held_out_markdown(const Validation& validation, const std::string& picture) {
  const std::vector<BenchmarkGroup> groups = official_benchmarks(validation);
  std::vector<RunOutcome> held_out = all_of(groups);
  std::string text;
  if (!groups.empty()) {
    text +=
        "\n## Official benchmarks\n\nSubmissions to MLPerf Training, rounds 3.0 to 5.1 (`models/measurements/mlperf-"
        "*.json`), with the step times of their logs. They are held out of every fit, and all of them count. Drift: by "
        "how much the error grows where the GPUs double, by least squares.\n\n";
    if (!picture.empty()) text += "![error over the number of GPUs](" + picture + ")\n\n";
    text += by_benchmark(groups) + "\n" + by_one(groups, &BenchmarkGroup::benchmark, "benchmark") + "\n" +
            by_one(groups, &BenchmarkGroup::system, "system") + "\nOver the number of GPUs:\n\n" + by_size(held_out);
  }
  const std::vector<RunOutcome> times = public_reports(validation, RunKind::time);
  const std::vector<RunOutcome> peaks = public_reports(validation, RunKind::memory);
  held_out.insert(held_out.end(), times.begin(), times.end());
  held_out.insert(held_out.end(), peaks.begin(), peaks.end());
  if (held_out.empty()) return text;
  if (times.size() + peaks.size() > 0)
    text +=
        "\n## Public reports\n\nWhat people published of their own trainings, each with its source in "
        "`models/measurements/public-reports-2026-11.json`. They are held out of every fit, and all of them "
        "count.\n\n" +
        reports_table(validation);
  return text + "\n## What is still wrong\n\nOf the runs that are held out of every fit. " + fits_of(validation) +
         "\n" + one_sided(groups) + "Outside of their interval, with what `plan estimate` would warn of:\n\n" +
         outside_table(held_out);
}

}  // namespace plumbline
