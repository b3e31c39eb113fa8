// A software stack fitted to measured runs.
#include "core/io/json.h"
#include "core/io/measured_runs_json.h"
#include "core/io/stack_json.h"
#include "planner/session/calibrate/calibrate.h"
#include "planner/session/calibrate/calibrated_json.h"
#include "planner/session/calibrate/calibration_tables.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
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
