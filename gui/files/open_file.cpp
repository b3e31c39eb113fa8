#include "gui/files/open_file.h"

#include <filesystem>

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "planner/session/plan_file.h"

namespace plumbline::gui {
namespace {

std::string format_of(const Json& document) {
  const Json* const format = document.find("format");
  return format != nullptr && format->if_string() != nullptr ? *format->if_string() : std::string();
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw InputError({path, what,
                    "a plan, a session of this window, a config.json of Hugging Face, a network, a machine or a "
                    "record of a run",
                    ""});
}

}  // namespace

OpenedFile open_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) return ModelFile{path};  // of a checkpoint: its config.json
  const Json document = read_json_file(path);
  if (document.if_object() == nullptr) refuse(path, "holds " + std::string(document.type_name()));
  const std::string format = format_of(document);
  if (format == "plumbline.plan/1") return priced(session::read_plan_request(path));
  if (format == window_format) return window_state_from_json(JsonPlace(document, path + ":"));
  if (format == "plumbline.machine/1") return MachineFile{path};
  if (format == "plumbline.network/1") return ModelFile{path};
  if (format.starts_with("plumbline.measurement/")) return RecordFile{path};
  if (!format.empty()) refuse(path + ":/format", "\"" + format.substr(0, 40) + "\" is nothing that this window opens");
  if (document.find("model_type") != nullptr || document.find("architectures") != nullptr) return ModelFile{path};
  refuse(path, "says neither its format nor a model_type");
}

SharedPlan priced(session::EstimateRequest request, const session::RunLimits& limits) {
  session::PricedQuestion answer = session::estimate(request);
  return std::make_shared<const PricedPlan>(PricedPlan{std::move(request), std::move(answer), limits});
}

SharedPlan priced(const Plan& plan, const QuestionText& question, const session::RunLimits& limits) {
  session::PlanRequest request;
  request.plan = plan;
  request.name = "plan";
  request.price_per_device_hour = question.price_per_device_hour;
  request.tensor_parallel_across_nodes = question.tensor_parallel_across_nodes;
  request.headroom = question.headroom;
  return priced(std::move(request), limits);
}

}  // namespace plumbline::gui
