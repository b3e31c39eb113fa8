#include "planner/session/estimate.h"

#include <filesystem>

#include "core/base/version.h"
#include "models/calibration_catalog.h"
#include "models/import/hugging_face.h"
#include "models/machine_catalog.h"
#include "models/name_or_path.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/session/plan_file.h"

namespace plumbline::session {
namespace {

/// What priced it then, against what prices it now.
std::string changed_since(const Plan& written, const Plan& now) {
  const auto differs = [](const std::string& then, const std::string& today) { return !then.empty() && then != today; };
  std::string what;
  if (differs(written.model.fingerprint, now.model.fingerprint)) what = "model " + now.model.name;
  if (differs(written.machine.fingerprint, now.machine.fingerprint))
    what += (what.empty() ? "" : " and ") + std::string("machine ") + now.machine.name;
  return what.empty() ? "" : "the " + what + " changed since the plan was written; it is priced as it is now";
}

QuestionText question_of(const PlanRequest& request) {
  const Plan& plan = request.plan;
  QuestionText text;
  text.model = plan.model.source;
  text.machine = plan.machine.source;
  text.devices = plan.machine.devices;
  text.training = plan.training;
  text.stack = request.stack.value_or(plan.provenance.stack_calibration);
  text.choices = request.choices;
  if (request.token_budget) text.training.token_budget = request.token_budget;
  text.sample_budget = request.sample_budget;
  text.price_per_device_hour =
      request.price_per_device_hour ? request.price_per_device_hour : plan.machine.price_per_device_hour;
  text.tensor_parallel_across_nodes = request.tensor_parallel_across_nodes;
  text.headroom = request.headroom.value_or(Headroom{0, plan.verdict.headroom});
  return text;
}

/// The config of the network that a plan file carries; null: none.
const Json* written_config(const PlanRequest& request) {
  const Json* const launch = request.written.find("launch");
  const Json* const network = launch == nullptr ? nullptr : launch->find("network");
  return network == nullptr || network->is_null() ? nullptr : network;
}

/// Whether the plan names a network file that is on another computer, and carries its config.
bool is_network_in_plan(const PlanRequest& request) {
  const std::string& source = request.plan.model.source;
  std::error_code ignored;
  return written_config(request) != nullptr && is_explicit_path(source) && !std::filesystem::exists(source, ignored);
}

Network network_in_plan(const PlanRequest& request) {
  const std::string where = request.name + ":/launch/network";
  Network network = import_hugging_face(JsonPlace(*written_config(request), where), request.plan.model.name);
  if (network.name.empty()) network.name = request.plan.model.name;
  return network;
}

/// Others may have written the plan: no content of the files that it names is shown.
/// A plan that crosses nodes with tensor parallelism says so itself; the policy of a search does not bind it.
Question question_for(const PlanRequest& request, QuestionText text) {
  const std::string& file = request.name;
  const Network network = is_network_in_plan(request) ? network_in_plan(request)
                                                      : found_unquoted(file + ":/model/source", text.model, "network",
                                                                       "plan models", find_network);
  const Cluster cluster =
      found_unquoted(file + ":/machine/source", text.machine, "machine", "plan machines", find_machine);
  if (!text.stack.empty())
    found_unquoted(file + ":/provenance/stack_calibration", text.stack, "stack", "plan stacks", find_stack);
  const Cluster sized = with_device_count(cluster, text.devices);
  Question question(text, network, sized);
  if (question.limits().nvlink_domain % request.plan.strategy.tensor_parallel == 0) return question;
  text.tensor_parallel_across_nodes = true;
  return {text, network, sized};
}

std::string joined(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

std::string layer_ranges_text(const std::vector<std::vector<std::int64_t>>& chunks) {
  std::string text;
  for (const std::vector<std::int64_t>& ends : chunks) {
    text += text.empty() ? "" : ", ";
    if (ends.empty()) text += "none";
    for (const std::int64_t layer : ends) text += (layer == ends.front() ? "" : "-") + std::to_string(layer);
  }
  return text;
}

/// Whether the layers of a balanced split may be others than they were: they follow from prices.
bool is_priced_anew(const PlanRequest& request, const Plan& now) {
  const Plan& then = request.plan;
  return now.strategy.split == StageSplit::balanced &&
         (request.stack || !request.choices.empty() || then.machine.fingerprint != now.machine.fingerprint ||
          then.provenance.program_version != now.provenance.program_version);
}

/// The layout follows from the strategy: one that was edited by hand is not what is priced.
void require_own_layers(const PlanRequest& request, const Plan& now) {
  const std::vector<StageLayoutEntry>& written = request.plan.layout.stages;
  if (written.empty() || request.plan.model.fingerprint != now.model.fingerprint || is_priced_anew(request, now))
    return;
  const std::string where = request.name + ":/layout/stages";
  if (written.size() != now.layout.stages.size())
    throw InputError({where, std::to_string(written.size()) + " stages",
                      std::to_string(now.layout.stages.size()) + ", which follow from the strategy", ""});
  for (std::size_t s = 0; s < written.size(); ++s)
    if (written[s].layers != now.layout.stages[s].layers)
      throw InputError({where + "/" + std::to_string(s) + "/layers", layer_ranges_text(written[s].layers),
                        layer_ranges_text(now.layout.stages[s].layers) +
                            ", which follow from the strategy; layers by hand are in /strategy/layers_per_stage",
                        ""});
}

/// Of a network that has no name here.
Question question_of(const StrategyRequest& request) {
  if (request.network_config.is_null()) return Question(request.question);
  const QuestionText& text = request.question;
  const Cluster cluster = find_machine(text.machine);
  return {text, import_hugging_face(JsonPlace(request.network_config, text.model), text.model),
          text.devices > 0 ? with_device_count(cluster, text.devices) : cluster};
}

std::string warning_of(const StrategyRequest& request) {
  return request.network_config.is_null() ? joined(name_warning(request.question), request.warning) : request.warning;
}

/// What decides memory and time and is not modelled leaves nothing to price.
void require_modelled(const StrategyRequest& request) {
  if (request.not_modelled.empty()) return;
  std::string what = request.not_modelled.front();
  for (std::size_t i = 1; i < request.not_modelled.size(); ++i) what += "; " + request.not_modelled[i];
  throw InputError({"--import", what + ": what would be priced is another run",
                    "launch files without it, or plan import, which shows the flags of the rest", ""});
}

PricedQuestion priced(const StrategyRequest& request) {
  require_modelled(request);
  require_moments(request.question.training);
  Question question = question_of(request);
  require_units(question);
  const Strategy strategy = completed(request.strategy, question);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  PricedQuestion asked{std::move(question), strategy, std::move(plan), warning_of(request)};
  if (!request.network_config.is_null()) asked.written_config = to_json_text(request.network_config);
  asked.chosen = request.chosen;
  return asked;
}

/// A config in the plan that is not that of the network it was made for.
void require_network_of_plan(const PlanRequest& request, const Plan& now) {
  const std::string& expected = request.plan.model.fingerprint;
  if (!is_network_in_plan(request) || expected.empty() || expected == now.model.fingerprint) return;
  throw InputError({request.name + ":/launch/network",
                    "the config describes a network of fingerprint " + now.model.fingerprint,
                    "that of /model/fingerprint, " + expected, ""});
}

PricedQuestion priced(const PlanRequest& request) {
  const QuestionText text = question_of(request);
  const Strategy& strategy = request.plan.strategy;
  Question question = question_for(request, text);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  require_network_of_plan(request, plan);
  require_own_layers(request, plan);
  std::string warning = joined(name_warning(text), changed_since(request.plan, plan));
  PricedQuestion asked{std::move(question), strategy, std::move(plan), std::move(warning)};
  if (is_network_in_plan(request)) asked.written_config = to_json_text(*written_config(request));
  if (!request.stack && request.choices.empty()) require_as_written(request, asked);
  return asked;
}

}  // namespace

Plan signed_plan(const Question& question, const Strategy& strategy, KnownPrograms* known) {
  Plan plan = evaluate(question, strategy, known);
  require_priceable(plan);
  plan.provenance.program_version = program_version();
  return plan;
}

PricedQuestion estimate(const EstimateRequest& request) {
  return std::visit([](const auto& one) { return priced(one); }, request);
}

Json with_chosen(const Json& plan, const PricedQuestion& asked) {
  Json::Object object = *plan.if_object();
  if (!asked.chosen.empty()) object.emplace_back("chosen", asked.chosen);
  return object;
}

}  // namespace plumbline::session
