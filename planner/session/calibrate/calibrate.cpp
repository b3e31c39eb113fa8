#include "planner/session/calibrate/calibrate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/measured_runs_json.h"
#include "core/io/stack_json.h"
#include "models/measurement_catalog.h"
#include "planner/session/calibrate/calibrated_json.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

std::vector<FitRun> of_device(const std::vector<FitRun>& runs, const std::string& device) {
  std::vector<std::string> known;
  std::vector<FitRun> chosen;
  for (const FitRun& run : runs) {
    if (std::find(known.begin(), known.end(), run.device.name) == known.end()) known.push_back(run.device.name);
    if (same_name(run.device.name, device)) chosen.push_back(run);
  }
  if (chosen.empty())
    throw InputError(
        {"--device", "no run is of \"" + device + "\"", "a device that runs bear", nearest_text(device, known)});
  return chosen;
}

OwnRunsOptions options_of(const CalibrationRequest& request, const Task& task) {
  OwnRunsOptions options;
  options.name = request.name;
  options.like = request.stack ? *request.stack : request.like.value_or("");
  options.stack_sigma = request.like ? sigma_of_like_stack : sigma_of_own_stack;
  options.fit.stop = task.stop;
  options.fit.progress = [&task, most = options.fit.most_iterations](int iteration, double) {
    task.report({"fit", iteration, most});
  };
  return options;
}

}  // namespace

PreparedCalibration prepare_calibration(const CalibrationRequest& request) {
  if (request.stack && request.like) throw InputError({"--like", "cannot be combined with --stack", "one of them", ""});
  FitRuns read = fit_runs(request.runs, RunResolver({run_aliases()}, run_assumptions()));
  return {request, std::move(read.runs), std::move(read.skipped)};
}

CalibrationAnswer calibrate(const PreparedCalibration& prepared, const Task& task) {
  CalibrationAnswer answer;
  answer.runs = prepared.request.device ? of_device(prepared.runs, *prepared.request.device) : prepared.runs;
  answer.found = calibrate_on(answer.runs, options_of(prepared.request, task));
  answer.complete = !task.is_stopped();
  task.end("fit");
  return answer;
}

namespace {

Answer shown(const CalibrationAnswer& calibrated) {
  Answer answer;
  answer.complete = answer.found = calibrated.complete;
  if (!calibrated.complete) return answer;
  answer.json = to_json_text(to_json(calibrated.found, calibrated.runs));
  answer.tables["runs"] = present::calibrated_runs_table(calibrated.found, calibrated.runs);
  answer.tables["numbers"] = present::calibrated_numbers_table(calibrated.found);
  answer.sentences = calibrated.found.warnings;
  answer.file_text = to_json_text(software_stack_json(calibrated.found.stack));
  return answer;
}

}  // namespace

UseCase calibrate_use_case() {
  struct Asked {
    std::optional<std::string> device, stack, like, name;
  };
  const auto asked = std::make_shared<Asked>();
  UseCase use_case;
  use_case.options = {bound("--device", "NAME", asked->device), bound("--stack", "STACK", asked->stack),
                      bound("--like", "STACK", asked->like), bound("--name", "NAME", asked->name)};
  use_case.work = [asked](const Inputs& inputs) {
    const CalibrationRequest request{read_run_files(inputs.files), asked->device, asked->stack, asked->like,
                                     asked->name.value_or("own")};
    return Work{[request](const Task& task) {
                  const PreparedCalibration prepared = prepare_calibration(request);
                  Answer answer = shown(calibrate(prepared, task));
                  for (const SkippedRun& run : prepared.skipped)
                    answer.sentences.push_back("Skipped " + run.id + ": " + run.reason + ".");
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
