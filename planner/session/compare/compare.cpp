#include "planner/session/compare/compare.h"

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/io/run_record_json.h"
#include "planner/session/flags/asked_plan.h"

namespace plumbline::session {

SimulatedPlan simulated_as_run(const PricedQuestion& asked) {
  SimulationOptions options;
  options.granularity = Granularity::block;
  options.scattering = Scattering::by_unit;
  return simulated(asked.question, asked.strategy, options);
}

std::optional<Comparison> compare(const PricedQuestion& asked, const RunRecord& record, const std::string& record_name,
                                  const Task& task) {
  const Graph& graph = asked.question.graph();
  require_same_plan(asked.plan, graph, record, record_name);
  if (task.is_stopped()) return std::nullopt;
  const SimulatedPlan simulated = simulated_as_run(asked);
  if (task.is_stopped()) return std::nullopt;
  const StackCalibration& stack = asked.question.calibration().stack;
  Comparison comparison =
      plumbline::compare(asked.plan, graph, simulated, record, apart_from_tensors(asked.plan.strategy, stack, record));
  comparison.device = device_lines(asked.plan, stack, record);
  return comparison;
}

namespace {

Answer shown(const Comparison& comparison) {
  Answer answer;
  answer.json = to_json_text(to_json(comparison));
  answer.tables["actions"] = present::action_table(comparison);
  answer.tables["memory"] = present::compared_memory_table(comparison);
  answer.tables["communication"] = present::sent_table(comparison);
  if (!comparison.device.empty()) answer.tables["device_memory"] = present::device_memory_table(comparison);
  answer.sentences = {present::compared_step_words(comparison), std::string(present::compared_bytes_words(comparison))};
  if (std::string unpredicted = present::unpredicted_device_words(comparison); !unpredicted.empty())
    answer.sentences.push_back(std::move(unpredicted));
  return answer;
}

}  // namespace

UseCase compare_use_case() {
  UseCase use_case;
  use_case.options.push_back(input("--plan"));
  use_case.work = [](const Inputs& inputs) {
    if (inputs.files.empty()) throw InputError({"files", "none is named", "the record of a run", ""});
    return Work{[source = inputs.source, record = inputs.files.at(0)](const Task& task) {
                  const PricedQuestion priced = estimate(plan_request(source));
                  const auto comparison = compare(priced, read_run_record_file(record), record, task);
                  Answer answer;
                  if (comparison) answer = shown(*comparison);
                  answer.complete = answer.found = comparison.has_value();
                  answer.warning = priced.warning;
                  return answer;
                },
                {}};
  };
  return use_case;
}

}  // namespace plumbline::session
