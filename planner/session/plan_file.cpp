#include "planner/session/plan_file.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/base/errors.h"
#include "core/io/json_difference.h"
#include "core/io/json_file.h"
#include "core/io/plan_json.h"
#include "models/import/onnx/reference.h"
#include "models/name_or_path.h"
#include "models/network_config.h"
#include "planner/launch/launch_json.h"

namespace plumbline::session {
namespace {

/// Of a recompute, what is predicted: it is derived anew, as /prediction is.
constexpr std::array predicted_keys{"kept_bytes", "restored_bytes", "replay_s"};

Json without_predictions(const Json& value) {
  if (const Json::Array* array = value.if_array()) {
    Json::Array kept;
    for (const Json& one : *array) kept.push_back(without_predictions(one));
    return kept;
  }
  const Json::Object* const object = value.if_object();
  if (object == nullptr) return value;
  Json::Object kept;
  for (const auto& [key, member] : *object)
    if (std::find(predicted_keys.begin(), predicted_keys.end(), key) == predicted_keys.end())
      kept.emplace_back(key, without_predictions(member));
  return kept;
}

bool is_of_same_parts(const Plan& written, const Plan& now) {
  return written.model.fingerprint == now.model.fingerprint && written.machine.fingerprint == now.machine.fingerprint &&
         written.provenance.program_version == now.provenance.program_version;
}

/// Keys that an older file does not have contradict nothing.
void require_equal(const Json& written, const Json& now, const std::string& where) {
  for (const auto& [key, value] : *now.if_object()) {
    const Json* const found = written.find(key);
    if (found == nullptr) continue;
    if (const auto difference = json_difference(*found, value))
      throw InputError({where + "/" + key + difference->path, difference->found,
                        difference->expected +
                            ", which follows from the strategy; a plan without /layout and /launch follows it alone",
                        ""});
  }
}

/// What may be a relative path of a file: no absolute one, and no ONNX file, whose name holds dimensions as well.
std::vector<std::string*> files_named_by(Plan& plan) {
  std::vector<std::string*> files;
  for (std::string* source : {&plan.model.source, &plan.machine.source}) {
    const bool may_be_path = is_explicit_path(*source) || source->find('/') != std::string::npos;
    if (may_be_path && !onnx::is_reference(*source) && std::filesystem::path(*source).is_relative())
      files.push_back(source);
  }
  return files;
}

PlanRequest request_of(Json written, const std::string& name) {
  PlanRequest request;
  request.plan = plan_from_json(JsonPlace(written, name + ":"));
  request.written = std::move(written);
  request.name = name;
  return request;
}

}  // namespace

PlanRequest read_plan_request(const std::string& file) {
  PlanRequest request = request_of(read_json_file(file), file);
  for (std::string* source : files_named_by(request.plan)) {
    const std::filesystem::path beside = std::filesystem::path(file).parent_path() / *source;
    std::error_code ignored;
    if (std::filesystem::exists(beside, ignored)) *source = beside.string();
  }
  return request;
}

PlanRequest plan_request_of(const std::string& text, const std::string& name) {
  return request_of(parse_json(text, name), name);
}

Plan named_from(Plan plan, const std::filesystem::path& folder) {
  if (folder.empty()) return plan;
  for (std::string* source : files_named_by(plan)) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::proximate(*source, folder, error);
    if (error || !std::filesystem::exists(*source, error)) continue;
    // A bare name would be taken for the catalogue's.
    *source = is_explicit_path(path.string()) ? path.string() : "./" + path.string();
  }
  return plan;
}

std::string plan_file_text(const Plan& plan, const Json& launch, const Json& recipe) {
  Json::Object object = *to_json(plan).if_object();
  object.emplace_back("launch", launch);
  object.emplace_back("recipe", recipe);
  return to_json_text(object);
}

std::string plan_text(const EstimateRequest& request, const PricedQuestion& asked) {
  const auto* const plan = std::get_if<PlanRequest>(&request);
  const Json* const recipe = plan == nullptr ? nullptr : plan->written.find("recipe");
  return plan_file_text(asked.plan, launch_of(asked), recipe == nullptr ? Json() : *recipe);
}

std::string plan_text(const Plan& plan) { return plan_file_text(plan, launch_of(plan), Json()); }

std::string config_of(const PricedQuestion& asked) {
  if (!asked.written_config.empty()) return asked.written_config;
  return network_config(asked.question.network(), asked.plan.model.source);
}

Json launch_of(const PricedQuestion& asked) { return launch_json(asked.question, asked.strategy, config_of(asked)); }

Json launch_of(const Plan& plan) {
  PlanRequest request;
  request.plan = plan;
  request.name = "plan";
  return launch_of(estimate(request));
}

void require_as_written(const PlanRequest& request, const PricedQuestion& now) {
  if (!is_of_same_parts(request.plan, now.plan)) return;
  if (const Json* const layout = request.written.find("layout"); layout != nullptr && layout->if_object() != nullptr)
    require_equal(without_predictions(*layout), without_predictions(*to_json(now.plan).find("layout")),
                  request.name + ":/layout");
  const Json* const launch = request.written.find("launch");
  if (launch == nullptr || launch->is_null()) return;
  const std::string where = request.name + ":/launch";
  if (launch->if_object() == nullptr)
    throw InputError({where, "found " + std::string(launch->type_name()), "an object", ""});
  const Json expected = launch_of(now);
  for (const auto& [key, value] : *launch->if_object())
    if (expected.find(key) == nullptr) throw InputError({where + "/" + key, "unknown key", "", ""});
  require_equal(*launch, expected, where);
}

}  // namespace plumbline::session
