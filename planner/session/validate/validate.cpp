#include "planner/session/validate/validate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/measured_runs_json.h"
#include "core/io/value_text.h"
#include "models/measurement_catalog.h"
#include "planner/session/use_case/use_case.h"

namespace plumbline::session {
namespace {

void require_known(const char* flag, const std::vector<std::string>& asked, std::vector<std::string> known) {
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& name : asked)
    if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return same_name(k, name); }))
      throw InputError({flag, "no run is of \"" + name + "\"", "a name that runs bear", nearest_text(name, known)});
}

/// A name that no run has would answer with silence.
void require_known(const ValidationFilter& filter, const std::vector<RunSet>& runs) {
  std::vector<std::string> sources;
  std::vector<std::string> devices;
  for (const RunSet& set : runs) {
    sources.push_back(set.name);
    for (const MeasuredRun& run : set.runs) devices.push_back(run.question.fields.word("hardware"));
  }
  require_known("--source", filter.sources, std::move(sources));
  require_known("--device", filter.devices, std::move(devices));
}

}  // namespace

Validation validate(const ValidationRequest& request, const Task& task) {
  const std::vector<RunSet> runs = request.runs ? *request.runs : published_runs();
  require_known(request.filter, runs);
  Validation validation =
      plumbline::validate(runs, RunResolver({run_aliases()}, run_assumptions()), request.filter, task);
  task.end("runs");
  return validation;
}

RunRuleTable assumptions() {
  RunRuleTable shared = run_assumptions();
  RunRuleTable all{shared.name, shared.description, {}};
  for (const RunSet& set : published_runs())
    for (RunRule rule : set.rules.assumptions) {
      rule.when.insert(rule.when.begin(), {"rows", {set.name}});
      all.rules.push_back(std::move(rule));
    }
  for (RunRule& rule : shared.rules) all.rules.push_back(std::move(rule));
  return all;
}

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
