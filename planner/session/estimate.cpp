#include "planner/session/estimate.h"

#include "core/base/version.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/name_or_path.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"

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
  if (request.token_budget) text.training.token_budget = request.token_budget;
  text.tensor_parallel_across_nodes = request.tensor_parallel_across_nodes;
  text.headroom = request.headroom;
  return text;
}

/// Others may have written the plan: no content of the files that it names is shown.
/// A plan that crosses nodes with tensor parallelism says so itself; the policy of a search does not bind it.
Question question_for(const std::string& file, QuestionText text, const Strategy& strategy) {
  const Network network = found_unquoted(file + ":/model/source", text.model, "network", "plan models", find_network);
  const Cluster cluster =
      found_unquoted(file + ":/machine/source", text.machine, "machine", "plan machines", find_machine);
  if (!text.stack.empty())
    found_unquoted(file + ":/provenance/stack_calibration", text.stack, "stack", "plan stacks", find_stack);
  const Cluster sized = with_device_count(cluster, text.devices);
  Question question(text, network, sized);
  if (question.limits().nvlink_domain % strategy.tensor_parallel == 0) return question;
  text.tensor_parallel_across_nodes = true;
  return {text, network, sized};
}

std::string joined(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

std::string layers_text(const std::vector<std::vector<std::int64_t>>& chunks) {
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
         (request.stack || then.machine.fingerprint != now.machine.fingerprint ||
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
      throw InputError({where + "/" + std::to_string(s) + "/layers", layers_text(written[s].layers),
                        layers_text(now.layout.stages[s].layers) +
                            ", which follow from the strategy; layers by hand are in /strategy/layers_per_stage",
                        ""});
}

PricedQuestion priced(const StrategyRequest& request) {
  require_moments(request.question.training);
  Question question(request.question);
  require_units(question);
  const Strategy strategy = completed(request.strategy, question);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  return {std::move(question), strategy, std::move(plan), name_remark(request.question)};
}

PricedQuestion priced(const PlanRequest& request) {
  const QuestionText text = question_of(request);
  const Strategy& strategy = request.plan.strategy;
  Question question = question_for(request.name, text, strategy);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  require_own_layers(request, plan);
  std::string remark = joined(name_remark(text), changed_since(request.plan, plan));
  return {std::move(question), strategy, std::move(plan), std::move(remark)};
}

}  // namespace

Plan signed_plan(const Question& question, const Strategy& strategy) {
  Plan plan = evaluate(question, strategy);
  require_priceable(plan);
  plan.provenance.program_version = program_version();
  return plan;
}

PricedQuestion estimate(const EstimateRequest& request) {
  return std::visit([](const auto& one) { return priced(one); }, request);
}

}  // namespace plumbline::session
