#include "python/use_cases.h"

#include "core/base/errors.h"
#include "core/io/run_record_json.h"
#include "core/io/simulation_json.h"
#include "planner/present/plan_tables.h"
#include "planner/session/compare/compare.h"
#include "planner/session/compare/comparison_json.h"
#include "planner/session/compare/comparison_tables.h"
#include "planner/session/explain/explain.h"
#include "planner/session/explain/explanation_json.h"
#include "planner/session/fit/fit.h"
#include "planner/session/import/import_json.h"
#include "python/arguments.h"

namespace plumbline::python {
namespace {

Answer answer_of(const session::Explanation& explanation) {
  Answer answer;
  answer.json = to_json_text(to_json(explanation));
  answer.tables["changes"] = present::change_table(explanation.plan, explanation.changes);
  answer.tables["assumed"] = present::assumed_table(explanation.assumed);
  answer.tables["time"] = present::time_table(explanation.plan.prediction.time);
  if (explanation.against) answer.tables["against"] = present::difference_table(explanation.plan, *explanation.against);
  answer.sentences = {"Bottleneck: " + explanation.bottleneck + "."};
  answer.complete = explanation.complete;
  return answer;
}

Answer answer_of(const session::PricedQuestion& asked, const session::SimulationAnswer& simulated) {
  Answer answer;
  answer.json = to_json_text(
      to_json(simulated.simulated.program, simulated.simulated.simulation, session::setting_of(asked, simulated)));
  answer.tables["time"] = present::time_table(simulated.simulated.simulation.time);
  return answer;
}

}  // namespace

Work work_of(const std::string& use_case, const Given& given) {
  const std::optional<session::UseCase> asked = session::use_case(use_case);
  check(asked.has_value(), "only use-cases of the table are asked");
  FlagReader reader(use_case, given);
  take(reader, asked->options);
  reader.refuse_rest();
  return asked->work();
}

SharedPlan priced(const std::string& function, const Given& given, const Source& source) {
  const bool is_fit = function == "fit";
  FitArguments arguments;
  if (is_fit)
    arguments = read<FitArguments>(function, given);
  else
    static_cast<PlanArguments&>(arguments) = read<PlanArguments>(function, given);
  const session::EstimateRequest request =
      arguments.request(source, is_fit ? session::NoStrategy::plain : session::NoStrategy::best);
  session::PricedQuestion asked = session::estimate(request);
  Plan plan = asked.plan;
  PricedPlan priced{std::move(plan), request, std::move(asked)};
  if (is_fit)
    priced.changes = [options = arguments.options()](const PricedPlan& self, const Task& task) {
      return session::shown_changes(self, options, task);
    };
  return std::make_shared<const PricedPlan>(std::move(priced));
}

Work fit_changes(const SharedPlan& plan) {
  check(plan->changes != nullptr, "changes are asked of a fit");
  return {[plan](const Task& task) { return plan->changes(*plan, task); }, {}};
}

Work explain(const Given& given, const Source& source, const Source& against) {
  const session::EstimateRequest request = read<ExplainArguments>("explain", given).request(source);
  std::optional<session::PlanRequest> other;
  if (against.plan || against.plan_file) other = plan_request(against);
  return {[request, other](const Task& task) {
            const session::PricedQuestion asked = session::estimate(request);
            std::optional<Plan> held_against;
            if (other) held_against = session::estimate(*other).plan;
            Answer answer = answer_of(session::explain(asked, held_against, task));
            answer.remark = asked.remark;
            return answer;
          },
          {}};
}

Work simulate(const Given& given, const Source& source) {
  const auto arguments = read<SimulateArguments>("simulate", given);
  const session::EstimateRequest request = arguments.request(source);
  return {[request, flags = arguments.simulation](const Task& task) {
            const session::PricedQuestion asked = session::estimate(request);
            const auto simulated = session::simulate(asked, flags.request(asked.strategy), task);
            Answer answer;
            if (simulated) answer = answer_of(asked, *simulated);
            answer.complete = answer.found = simulated.has_value();
            answer.remark = asked.remark;
            return answer;
          },
          {}};
}

Answer import_files(const Given& given, const std::vector<std::string>& files) {
  const auto arguments = read<ImportArguments>("import_files", given);
  if (const std::string said = arguments.question.given_with_import(); !said.empty())
    throw InputError({said, "the files say it", "no such flag", ""});
  session::ImportRequest request = read_launch_files(files, arguments.from);
  request.question = arguments.question.question(session::QuestionParts::none);
  const session::ImportAnswer found = session::import_files(request);
  const session::StrategyRequest asked = session::named_in_catalogue(session::strategy_request(request, found));
  Answer answer;
  answer.json = to_json_text(session::to_json(found, session::estimate_flags(asked)));
  answer.sentences = found.notes.unread;
  for (const std::string& sentence : found.assumed) answer.sentences.push_back("assumed: " + sentence);
  return answer;
}

Answer compare(const Source& source, const std::string& measured) {
  const session::PricedQuestion asked = session::estimate(plan_request(source));
  const auto comparison = session::compare(asked, read_run_record_file(measured), measured);
  Answer answer;
  answer.json = to_json_text(to_json(comparison.value()));  // nobody stops it
  answer.tables["actions"] = present::action_table(*comparison);
  answer.tables["memory"] = present::compared_memory_table(*comparison);
  answer.tables["communication"] = present::sent_table(*comparison);
  if (!comparison->device.empty()) answer.tables["device_memory"] = present::device_memory_table(*comparison);
  answer.sentences = {present::compared_step_words(*comparison),
                      std::string(present::compared_bytes_words(*comparison))};
  if (const std::string unpredicted = present::unpredicted_device_words(*comparison); !unpredicted.empty())
    answer.sentences.push_back(unpredicted);
  answer.remark = asked.remark;
  return answer;
}

}  // namespace plumbline::python
