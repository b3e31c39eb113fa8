#include "planner/session/flags/asked_plan.h"

#include "core/base/errors.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {

void AskedPlan::bind(std::vector<BoundOption>& options) {
  options.push_back(input("--plan"));
  options.push_back(input("--import"));
  options.push_back(bound("--from", "NAME", from));
  bind_options(options, question_options(flags.question.recipes, flags.question.counts), flags.question);
  bind_options(options, flags.strategy);
}

EstimateRequest AskedPlan::request(const Source& source, NoStrategy none) const {
  const bool has_plan = source.plan || source.plan_file;
  if (!source.launch_files.empty()) {
    flags.require_allowed_with_import();
    if (has_plan)
      throw InputError({"--plan", "cannot be combined with --import, which says it too", "one of the two", ""});
    return flags.request_of(read_launch_files(source.launch_files, from));
  }
  if (from) throw InputError({"--from", "says whose the files of --import are", "--import as well", ""});
  if (!has_plan) return flags.request(none);
  flags.require_allowed_with_plan();
  return flags.request_of(plan_request(source));
}

PlanRequest plan_request(const Source& source) {
  if (source.plan) return plan_request_of(source.plan->file_text(), "plan");
  if (source.plan_file) return read_plan_request(*source.plan_file);
  throw InputError({"--plan", "is missing", "a plan or the name of its file", ""});
}

}  // namespace plumbline::session
