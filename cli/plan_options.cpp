#include "cli/plan_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "core/base/errors.h"
#include "core/io/plan_json.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/name_or_path.h"
#include "models/network_catalog.h"
#include "planner/question/evaluate.h"

namespace plumbline {
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

QuestionText question_of(const Plan& plan) {
  QuestionText text;
  text.model = plan.model.source;
  text.machine = plan.machine.source;
  text.devices = plan.machine.devices;
  text.training = plan.training;
  text.stack = plan.provenance.stack_calibration;
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

}  // namespace

Plan signed_plan(const Question& question, const Strategy& strategy) {
  Plan plan = evaluate(question, strategy);
  require_priceable(plan);
  plan.provenance.program_version = PLUMBLINE_VERSION;
  return plan;
}

PricedQuestion priced(const QuestionText& text, const PartialStrategy& partial) {
  Question question(text);
  require_units(question);
  const Strategy strategy = completed(partial, question);
  require_legal(strategy, question);
  Plan plan = signed_plan(question, strategy);
  return {std::move(question), strategy, std::move(plan), name_remark(text)};
}

PricedQuestion priced_file(const std::string& file, const QuestionOptions& options) {
  const Json json = read_json_file(file);
  const Plan written = plan_from_json(JsonPlace(json, file + ":"));
  QuestionText text = question_of(written);
  options.apply_to_plan(text);
  Question question = question_for(file, text, written.strategy);
  require_legal(written.strategy, question);
  Plan plan = signed_plan(question, written.strategy);
  std::string remark = joined(name_remark(text), changed_since(written, plan));
  return {std::move(question), written.strategy, std::move(plan), std::move(remark)};
}

void PlanOptions::declare(CLI::App& app) {
  app.add_option("--plan", plan_file_, "a plan file instead of the flags of question and strategy")
      ->group("Question")
      ->type_name("FILE");
  question_.declare(app, Precisions::one);
  strategy_.declare(app);
}

PricedQuestion PlanOptions::asked() const {
  if (!plan_file_) {
    if (question_.precisions().size() > 1)
      throw InputError({"--precision", "several are given", "one here; plan search takes several", ""});
    return priced(question_.question(), strategy_.strategy());
  }
  const std::string given = question_.given_beside_plan().empty() ? strategy_.given() : question_.given_beside_plan();
  if (!given.empty()) throw InputError({given, "stands beside --plan, which says it too", "one of the two", ""});
  return priced_file(*plan_file_, question_);
}

}  // namespace plumbline
