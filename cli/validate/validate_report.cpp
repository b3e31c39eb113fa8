#include "cli/validate/validate_report.h"

#include <algorithm>
#include <cmath>

#include "cli/validate/benchmark_report.h"
#include "core/base/escape.h"
#include "core/quantity/text.h"
#include "planner/session/validate/validate.h"

namespace plumbline {
namespace {

constexpr std::size_t most_weak_runs = 20;

using Part = present::Series;

std::string series_row(const std::string& name, const SeriesSummary& s) {
  if (s.n == 0) return "";
  return "| " + name + " | " + std::to_string(s.n) + " | " + present::share_text(s.mape) + " | " +
         present::signed_share_text(s.bias) + " | " + present::share_text(s.median) + " | " +
         present::share_text(s.p90) + " | " + present::signed_share_text(s.worst) + " | " +
         (s.n < 3 ? "" : fixed(s.spearman, 3)) + " | " + present::share_text(s.coverage) + " |\n";
}

std::string series_table(const Validation& validation, Part part) {
  std::string runs;
  for (const std::string& source : sources_of(validation))
    runs += series_row(markdown_text(source), summarize(validation, source).*part);
  if (runs.empty()) return "none\n";
  return "| source | n | MAPE | bias | median | p90 | worst | Spearman | inside the interval |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n" +
         runs + series_row("**all**", summarize(validation).*part);
}

std::string weak_runs(const Validation& validation, RunKind kind) {
  std::vector<const RunOutcome*> runs;
  for (const RunOutcome& run : validation.runs)
    if (run.kind == kind && run.trust == RunTrust::trusted) runs.push_back(&run);
  std::stable_sort(runs.begin(), runs.end(), [](const RunOutcome* a, const RunOutcome* b) {
    return std::abs(a->pair.error()) > std::abs(b->pair.error());
  });
  if (runs.size() > most_weak_runs) runs.resize(most_weak_runs);
  std::string text = "| run | device | stack | strategy | error |\n|---|---|---|---|---:|\n";
  for (const RunOutcome* run : runs)
    text += "| " + markdown_text(run->id) + " | " + markdown_text(run->device) + " | " + markdown_text(run->stack) +
            " | " + markdown_text(run->strategy) + " | " + present::signed_share_text(run->pair.error()) + " |\n";
  return text;
}

std::string fits(const Validation& validation) {
  const ValidationSummary summary = summarize(validation);
  std::string text = std::to_string(summary.fit.right) + " of " + std::to_string(summary.fit.n) +
                     " published fit or no-fit answers are right; of " + std::to_string(summary.ran.n) +
                     " runs that did fit, " + std::to_string(summary.ran.predicted_not_to) +
                     " are predicted not to; of " + std::to_string(summary.ran_doubtful.n) +
                     " that their own source contradicts or leaves open, " +
                     std::to_string(summary.ran_doubtful.predicted_not_to) + ".\n";
  for (const RunOutcome& run : validation.runs)
    if (run.kind == RunKind::fit && !run.is_right())
      text += "\n* " + markdown_text(run.id) + ": " +
              to_text(Bytes(static_cast<std::int64_t>(run.pair.predicted.expected))) + " predicted of " +
              to_text(Bytes(static_cast<std::int64_t>(run.pair.measured))) + ", yet it " +
              (run.measured_fits ? "ran" : "ran out of memory") +
              (run.doubt.empty() ? "" : " (not counted: " + markdown_text(run.doubt) + ")");
  return text + "\n";
}

/// Between these tests/fidelity/cross_validation.py puts its tables.
constexpr std::string_view cross_validation = "<!-- cross-validation: begin -->\n<!-- cross-validation: end -->\n";

std::string skipped(const Validation& validation) {
  std::string text = "| runs | because |\n|---:|---|\n";
  for (const auto& [reason, count] : present::skip_reasons(validation))
    text += "| " + std::to_string(count) + " | " + markdown_text(reason) + " |\n";
  return text;
}

}  // namespace

std::string validation_markdown(const Validation& everything, const ReportPictures& pictures) {
  Validation validation = fitted_part(everything);
  validation.skipped = everything.skipped;
  std::string text =
      "# Fidelity\n\n"
      "Written by `make fidelity` from the measurements in `models/measurements`; do not edit. A test fails when a "
      "mean "
      "error grows by more than a tenth of itself against these numbers.\n\n"
      "Each run is predicted from its configuration alone (`plan validate --assumptions` shows what is taken where a "
      "source publishes nothing). Runs of one configuration count once, the fastest. Error is predicted / measured - "
      "1, "
      "MAPE the mean of its magnitude. What ships was fitted over these runs ([calibrating](calibrating.md)): the "
      "tables "
      "of step times below the next section say how well they are described, not how well they were predicted. That is "
      "what the next section is for.\n\n";
  if (!pictures.validation.empty()) text += "![predicted against measured](" + pictures.validation + ")\n\n";
  text += "## Runs that no fit has seen\n\nWritten by `make cross-validation`.\n\n" + std::string(cross_validation);
  text += held_out_markdown(everything, pictures.benchmarks);
  text += "\n## Step time\n\n" + series_table(validation, &ValidationSummary::time);
  text += "\n## Peak memory, on the basis that each source reports\n\n" +
          series_table(validation, &ValidationSummary::memory) +
          "\nMemory is counted, not fitted, but for two constants of the axis value `deepspeed` (`context_bytes`, "
          "`fragmentation_fraction`): they were fitted on the peaks of bigscience_bloom_a100, whose line says how well "
          "they describe it; bigscience_v100 is predicted with them.\n";
  text += "\n## Fits or not\n\n" + fits(validation);
  text += "\n## Reported apart: runs of which sequence, batch or a degree was inferred\n\nStep time:\n\n" +
          series_table(validation, &ValidationSummary::time_inferred) + "\nPeak memory:\n\n" +
          series_table(validation, &ValidationSummary::memory_inferred);
  text += "\n## Reported apart: runs that their own source contradicts or leaves open\n\nStep time:\n\n" +
          series_table(validation, &ValidationSummary::time_doubtful) + "\nPeak memory:\n\n" +
          series_table(validation, &ValidationSummary::memory_doubtful);
  text += "\n## Where it is weak\n\nStep time, furthest off first:\n\n" + weak_runs(validation, RunKind::time) +
          "\nPeak memory, furthest off first:\n\n" + weak_runs(validation, RunKind::memory);
  return text + "\n## What was skipped\n\n" + skipped(validation);
}

}  // namespace plumbline
