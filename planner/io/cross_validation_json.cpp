#include "planner/io/cross_validation_json.h"

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
  Json::Array runs;
  for (const TestedRun& one : tested) {
    const FitRun& run = answer.runs[one.run];
    runs.push_back(Json::Object{{"id", run.id},
                                {"class", to_text(run.run_class)},
                                {"trust", to_text(run.trust)},
                                {"measured", run.measured_s},
                                {"tested", to_json(one.predicted)}});
  }
  return runs;
}

Json stack_json(const CrossValidationAnswer& answer, const LeftOutStack& stack) {
  Json::Array chosen;
  for (const std::size_t i : stack.chosen) chosen.push_back(answer.runs[i].id);
  return Json::Object{{"stack", stack.framework},
                      {"without", errors_json(answer, stack.without)},
                      {"chosen", std::move(chosen)},
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
  return Json::Object{{"path", to_text(number.id)}, {"prior", number.prior}, {"prior_sigma", number.prior_sigma},
                      {"value", number.value},      {"sigma", number.sigma}, {"identified", number.is_identified()}};
}

}  // namespace

Json to_json(const CrossValidationAnswer& answer) {
  Json::Array runs;
  for (const TestedRun& tested : answer.tested) runs.push_back(tested_json(answer, tested));
  Json::Array stacks;
  for (const LeftOutStack& stack : answer.stacks) stacks.push_back(stack_json(answer, stack));
  Json::Array questions;
  for (const RankedQuestion& question : answer.questions) questions.push_back(question_json(question));
  Json::Array numbers;
  for (const FittedNumber& number : answer.numbers) numbers.push_back(number_json(number));
  Json::Array skipped;
  for (const SkippedRun& run : answer.skipped)
    skipped.push_back(Json::Object{{"id", run.id}, {"source", run.source}, {"reason", run.reason}});
  return Json::Object{{"format", "plumbline.cross_validation/1"},
                      {"complete", answer.complete},
                      {"rows", std::move(runs)},
                      {"left_out_stacks", std::move(stacks)},
                      {"questions", std::move(questions)},
                      {"numbers", std::move(numbers)},
                      {"skipped", std::move(skipped)}};
}

}  // namespace plumbline
