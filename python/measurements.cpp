// Measured runs: predictions against them, and a software stack fitted to them.
#include "core/base/errors.h"
#include "core/io/measured_runs_json.h"
#include "core/io/stack_json.h"
#include "planner/session/calibrate/calibrate.h"
#include "planner/session/calibrate/calibrated_json.h"
#include "planner/session/calibrate/calibration_tables.h"
#include "planner/session/validate/validate.h"
#include "planner/session/validate/validation_json.h"
#include "planner/session/validate/validation_tables.h"
#include "python/arguments.h"

namespace plumbline::python {
namespace {

std::vector<RunSet> read_runs(const std::vector<std::string>& files) {
  std::vector<RunSet> sets;
  for (const std::string& file : files) sets.push_back(read_runs_file(file));
  return sets;
}

Answer answer_of(const Validation& validation) {
  Answer answer;
  answer.json = to_json_text(to_json(validation));
  answer.tables["time"] = present::series_table(validation, "step time", &ValidationSummary::time);
  answer.tables["memory"] = present::series_table(validation, "peak memory", &ValidationSummary::memory);
  answer.tables["furthest"] = present::furthest_table(validation);
  answer.tables["skipped"] = present::skipped_table(validation);
  answer.complete = validation.complete;
  answer.found = !validation.runs.empty() || validation.complete;
  return answer;
}

Answer answer_of(const session::CalibrationAnswer& calibrated) {
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

Work validate(const Given& given, const std::vector<std::string>& files) {
  session::ValidationRequest request{std::nullopt, read<ValidateArguments>("validate", given).filter};
  if (!files.empty()) request.runs = read_runs(files);
  return {[request](const Task& task) { return answer_of(session::validate(request, task)); }, {}};
}

Work calibrate(const Given& given, const std::vector<std::string>& files) {
  const auto arguments = read<CalibrateArguments>("calibrate", given);
  const session::CalibrationRequest request{read_runs(files), arguments.device, arguments.stack, arguments.like,
                                            arguments.name.value_or("own")};
  return {[request](const Task& task) {
            const session::PreparedCalibration prepared = session::prepare_calibration(request);
            Answer answer = answer_of(session::calibrate(prepared, task));
            for (const SkippedRun& run : prepared.skipped)
              answer.sentences.push_back("Skipped " + run.id + ": " + run.reason + ".");
            return answer;
          },
          {}};
}

}  // namespace plumbline::python
