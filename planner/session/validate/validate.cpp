#include "planner/session/validate/validate.h"

#include <algorithm>

#include "core/base/errors.h"
#include "models/measurement_catalog.h"

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

}  // namespace plumbline::session
