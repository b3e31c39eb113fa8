#include "planner/session/calibrate/cross_validation_json.h"

#include "core/io/json_array.h"
#include "core/io/prediction_json.h"

namespace plumbline {
namespace {

Json tested_json(const CrossValidationAnswer& answer, const TestedRun& tested) {
  const FitRun& run = answer.runs[tested.run];
  Json::Object json{{"id", run.id},
                    {"source", run.source},
                    {"model", run.model},
                    {"class", to_text(run.run_class)},
                    {"device", run.device.name},
                    {"stack", run.stack},
                    {"release", run.release},
                    {"trust", to_text(run.trust)},
                    {"fine_tuning", run.fine_tuning},
                    {"strategy", to_text(run.pricer.strategy())},
                    {"measured", run.measured_s},
                    {"tested", to_json(tested.predicted)},
                    {"regime", to_text(tested.regime)},
                    {"fold", static_cast<std::int64_t>(tested.fold)}};
  if (!answer.fitted_s.empty()) json.emplace_back("fitted", answer.fitted_s[tested.run]);
  return json;
}

Json errors_json(const CrossValidationAnswer& answer, const std::vector<TestedRun>& tested) {
  return json_array(tested, [&](const TestedRun& one) {
    const FitRun& run = answer.runs[one.run];
    return Json::Object{{"id", run.id},
                        {"class", to_text(run.run_class)},
                        {"trust", to_text(run.trust)},
                        {"measured", run.measured_s},
                        {"tested", to_json(one.predicted)}};
  });
}

Json left_out_json(const CrossValidationAnswer& answer, const std::vector<LeftOutRun>& tested) {
  return json_array(tested, [&](const LeftOutRun& one) {
    const FitRun& run = answer.runs[one.run];
    return Json::Object{{"id", run.id},
                        {"source", run.source},
                        {"class", to_text(run.run_class)},
                        {"device", run.device.name},
                        {"stack", run.stack},
                        {"read_as", answer.runs[one.read].stack},
                        {"trust", to_text(run.trust)},
                        {"measured", run.measured_s},
                        {"tested", to_json(one.predicted.step_s)},
                        {"regime", to_text(one.predicted.regime)}};
  });
}

Json stack_json(const CrossValidationAnswer& answer, const LeftOutStack& stack) {
  const auto id_of = [&](std::size_t run) { return answer.runs[run].id; };
  return Json::Object{{"stack", stack.framework},
                      {"without", errors_json(answer, stack.without)},
                      {"chosen", json_array(stack.chosen, id_of)},
                      {"after", errors_json(answer, stack.after)}};
}

Json question_json(const RankedQuestion& question) {
  return Json::Object{{"question", question.question},
                      {"source", question.source},
                      {"rows", question.runs},
                      {"pairs", question.pairs},
                      {"pairs_right", question.pairs_right},
                      {"spearman", question.spearman},
                      {"regret", question.regret},
                      {"noise", question.noise}};
}

Json number_json(const FittedNumber& number) {
  return Json::Object{{"path", to_text(number.id)},
                      {"prior", number.prior},
                      {"prior_sigma", number.prior_sigma},
                      {"value", number.value},
                      {"sigma", number.sigma},
                      {"held", number.is_held},
                      {"identified", number.is_identified}};
}

}  // namespace

Json to_json(const CrossValidationAnswer& answer) {
  const auto run_json = [&](const TestedRun& tested) { return tested_json(answer, tested); };
  const auto of_stack = [&](const LeftOutStack& stack) { return stack_json(answer, stack); };
  const auto skipped_json = [](const SkippedRun& run) {
    return Json::Object{{"id", run.id}, {"source", run.source}, {"reason", run.reason}};
  };
  return Json::Object{{"format", "plumbline.cross_validation/1"},
                      {"complete", answer.complete},
                      {"rows", json_array(answer.tested, run_json)},
                      {"framework_known", left_out_json(answer, answer.sources.framework_known)},
                      {"framework_unknown", left_out_json(answer, answer.sources.framework_unknown)},
                      {"device_unknown", left_out_json(answer, answer.sources.device_unknown)},
                      {"left_out_stacks", json_array(answer.stacks, of_stack)},
                      {"questions", json_array(answer.questions, question_json)},
                      {"numbers", json_array(answer.numbers, number_json)},
                      {"skipped", json_array(answer.skipped, skipped_json)}};
}

}  // namespace plumbline
