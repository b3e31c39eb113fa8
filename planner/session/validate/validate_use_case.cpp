// Predictions against measured runs: those of files, or those that are published.
#include "core/io/json.h"
#include "core/io/measured_runs_json.h"
#include "planner/question/value_text.h"
#include "planner/session/use_case/use_case.h"
#include "planner/session/validate/validate.h"
#include "planner/session/validate/validation_json.h"
#include "planner/session/validate/validation_tables.h"

namespace plumbline::session {
namespace {

Answer shown(const Validation& validation) {
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

/// Names apart by commas.
BoundOption names_of_rows(const char* flag, std::vector<std::string>& names) {
  return {{.flag = flag, .values = "NAME", .help = {}, .several = true},
          [flag, &names](const std::string& text) { names = list_of(flag, text); }};
}

}  // namespace

UseCase validate_use_case() {
  const auto filter = std::make_shared<ValidationFilter>();
  UseCase use_case;
  use_case.options.push_back(names_of_rows("--device", filter->devices));
  use_case.options.push_back(names_of_rows("--source", filter->sources));
  use_case.work = [filter](const Inputs& inputs) {
    ValidationRequest request{std::nullopt, *filter};
    if (!inputs.files.empty()) request.runs = read_run_files(inputs.files);
    return Work{[request](const Task& task) { return shown(validate(request, task)); }, {}};
  };
  return use_case;
}

}  // namespace plumbline::session
