#include "capi/export.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/io/json_array.h"
#include "planner/session/export/export.h"
#include "planner/session/flags/asked_plan.h"

namespace plumbline::capi {
namespace {

struct ExportFlags {
  std::optional<std::string> target;
  std::optional<std::string> release;
};

Json file_json(const LaunchFile& file) {
  return Json::Object{{"name", file.name}, {"text", file.text}, {"is_executable", file.is_executable}};
}

Json export_json(const session::ExportAnswer& answer) {
  std::vector<std::string> not_said = answer.files.unsaid;
  not_said.insert(not_said.end(), answer.files.missing.begin(), answer.files.missing.end());
  const auto substitution = [](const session::Substitution& one) {
    return Json::Object{{"sentence", one.sentence}, {"change", one.change}};
  };
  return Json::Object{{"title", answer.title},
                      {"release", answer.release},
                      {"files", json_array(answer.files.files, file_json)},
                      {"substitutions", json_array(answer.substitutions, substitution)},
                      {"not_said", json_array(not_said)},
                      {"assumptions", json_array(answer.files.assumptions)}};
}

session::Answer exported(const session::PlanRequest& request, const ExportFlags& flags) {
  const session::ExportAnswer written = session::export_plan(
      session::estimate(request), *flags.target, flags.release.value_or(""), session::launch_recipe(request.written));
  session::Answer answer;
  answer.json = to_json_text(export_json(written));
  if (written.nearest) answer.plans.push_back(session::shared(*written.nearest));
  return answer;
}

}  // namespace

session::UseCase export_use_case() {
  const auto flags = std::make_shared<ExportFlags>();
  session::UseCase use_case;
  use_case.options = {session::input("--plan"), session::bound("--to", "NAME", flags->target),
                      session::bound("--release", "NAME", flags->release)};
  use_case.work = [flags](const session::Inputs& inputs) {
    if (!flags->target) throw InputError({"--to", "is not given", "a training framework", ""});
    const session::PlanRequest request = session::plan_request(inputs.source);
    return session::Work{[request, flags](const Task& /*task*/) { return exported(request, *flags); }, {}};
  };
  return use_case;
}

}  // namespace plumbline::capi
