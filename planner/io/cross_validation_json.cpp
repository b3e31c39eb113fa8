#include "planner/io/cross_validation_json.h"

#include "core/io/prediction_json.h"

namespace plumbline {
namespace {

Json tested_json(const CrossValidationAnswer& answer, const TestedRow& tested) {
  const FitRow& row = answer.rows[tested.row];
  Json::Object json{{"id", row.id},
                    {"source", row.source},
                    {"model", row.model},
                    {"class", to_text(row.row_class)},
                    {"device", row.device.name},
                    {"stack", row.stack},
                    {"release", row.release},
                    {"trust", to_text(row.trust)},
                    {"fine_tuning", row.fine_tuning},
                    {"strategy", to_text(row.pricer.strategy())},
                    {"measured", row.measured_s},
                    {"tested", to_json(tested.predicted)},
                    {"regime", to_text(tested.regime)},
                    {"fold", static_cast<std::int64_t>(tested.fold)}};
  if (!answer.fitted_s.empty()) json.emplace_back("fitted", answer.fitted_s[tested.row]);
  return json;
}

Json errors_json(const CrossValidationAnswer& answer, const std::vector<TestedRow>& tested) {
  Json::Array rows;
  for (const TestedRow& one : tested) {
    const FitRow& row = answer.rows[one.row];
    rows.push_back(Json::Object{{"id", row.id},
                                {"class", to_text(row.row_class)},
                                {"trust", to_text(row.trust)},
                                {"measured", row.measured_s},
                                {"tested", to_json(one.predicted)}});
  }
  return rows;
}

Json stack_json(const CrossValidationAnswer& answer, const LeftOutStack& stack) {
  Json::Array chosen;
  for (const std::size_t i : stack.chosen) chosen.push_back(answer.rows[i].id);
  return Json::Object{{"stack", stack.framework},
                      {"without", errors_json(answer, stack.without)},
                      {"chosen", std::move(chosen)},
                      {"after", errors_json(answer, stack.after)}};
}

Json question_json(const RankedQuestion& question) {
  return Json::Object{{"question", question.question},
                      {"source", question.source},
                      {"rows", question.rows},
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
  Json::Array rows;
  for (const TestedRow& tested : answer.tested) rows.push_back(tested_json(answer, tested));
  Json::Array stacks;
  for (const LeftOutStack& stack : answer.stacks) stacks.push_back(stack_json(answer, stack));
  Json::Array questions;
  for (const RankedQuestion& question : answer.questions) questions.push_back(question_json(question));
  Json::Array numbers;
  for (const FittedNumber& number : answer.numbers) numbers.push_back(number_json(number));
  Json::Array skipped;
  for (const SkippedRow& row : answer.skipped)
    skipped.push_back(Json::Object{{"id", row.id}, {"source", row.source}, {"reason", row.reason}});
  return Json::Object{{"format", "plumbline.cross_validation/1"},
                      {"complete", answer.complete},
                      {"rows", std::move(rows)},
                      {"left_out_stacks", std::move(stacks)},
                      {"questions", std::move(questions)},
                      {"numbers", std::move(numbers)},
                      {"skipped", std::move(skipped)}};
}

}  // namespace plumbline
