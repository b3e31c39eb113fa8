#include "cli/run/run_files.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "core/io/trace_json.h"
#include "core/simulate/run_trace.h"

namespace plumbline {
namespace {

LossCurve curve_of(const RunRecord& record) {
  const std::size_t ranks = record.ranks.size();
  LossCurve curve{std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + ", " + record.model, {}};
  for (const StepRecord& step : record.steps) curve.losses.push_back(step.loss);
  return curve;
}

/// What the loss is read by: held-out losses, as dots where they were evaluated, and the unigram entropy.
void add_marks(const RunRecord& record, std::vector<LossCurve>& curves) {
  LossCurve held_out{"held-out text", {}};
  for (const StepRecord& step : record.steps) held_out.losses.push_back(step.held_out_loss.value_or(std::nan("")));
  const auto is_there = [](double loss) { return !std::isnan(loss); };
  if (std::any_of(held_out.losses.begin(), held_out.losses.end(), is_there)) curves.push_back(std::move(held_out));
  if (record.text.tokens > 0)
    curves.push_back({"unigram entropy", std::vector<double>(record.steps.size(), record.text.unigram_entropy)});
}

}  // namespace

void RunFiles::declare(CLI::App& app) {
  record_.declare(app, "write what was measured to this file");
  trace_.declare(app, "write a Chrome trace of one step to this file");
  picture_.declare(app, "draw the loss to this SVG file");
  describe_.declare(app, "write what every rank holds and does to this file (threads alone)");
  track_.declare(app);
  app.add_option("--beside", beside_, "records of other runs, drawn in the same picture")
      ->group("Output")
      ->type_name("FILE");
}

void RunFiles::check() const {
  if (!beside_.empty() && !picture_)
    throw InputError({"--beside", "is given without --picture", "both, or neither", ""});
}

void RunFiles::refuse_what_is_local() const {
  if (describe_) throw InputError({"--describe", "is given with processes of a launch", "--ranks local", ""});
}

void RunFiles::require_all_writable(StandardOutput use, Terminal& terminal) const {
  track_.require_writable();
  require_writable({&record_, &trace_, &picture_, &describe_}, use, terminal);
}

std::vector<LossCurve> RunFiles::other_curves() const {
  std::vector<LossCurve> curves;
  for (const std::string& file : beside_) curves.push_back(curve_of(read_run_record_file(file)));
  return curves;
}

void RunFiles::write(const RunRecord& record, const Plan& plan, std::vector<LossCurve> curves, Terminal& terminal,
                     Narration narration) const {
  if (track_) track_.write(tracked_run(record, plan, time_now()), terminal, narration);
  record_.write([&] { return to_json_text(to_json(record)); }, terminal, narration);
  trace_.write([&] { return trace_json_text(trace(record)); }, terminal, narration);
  const auto picture = [&] {
    curves.push_back(curve_of(record));
    add_marks(record, curves);
    return loss_picture("Loss of " + record.model, curves);
  };
  picture_.write(picture, terminal, narration);
}

std::vector<std::pair<std::string, std::string>> RunFiles::saved() const {
  std::vector<std::pair<std::string, std::string>> files;
  if (record_) files.emplace_back("record", *record_.name());
  if (trace_) files.emplace_back("trace", *trace_.name());
  if (picture_) files.emplace_back("picture", *picture_.name());
  return files;
}

}  // namespace plumbline
