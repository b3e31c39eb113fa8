#include "planner/session/flags/plan_flags.h"

#include <utility>

#include "core/base/errors.h"
#include "planner/session/search/search.h"

namespace plumbline::session {
namespace {

void require_none(const std::string& given, const char* beside) {
  if (!given.empty())
    throw InputError(
        {given, "cannot be combined with " + std::string(beside) + ", which says it too", "one of the two", ""});
}

}  // namespace

void PlanFlags::require_allowed_with_plan() const {
  require_none(question.given_with_plan(), "--plan");
  require_none(strategy.given(), "--plan");
}

void PlanFlags::require_allowed_with_import() const {
  require_none(question.given_with_import(), "--import");
  require_none(strategy.given_with_import(), "--import");
}

StrategyRequest PlanFlags::request(NoStrategy none) const {
  if (none == NoStrategy::best && strategy.given().empty()) return best_strategy(question.question());
  return {question.question(), strategy.strategy()};
}

PlanRequest PlanFlags::request_of(PlanRequest plan) const {
  question.apply_to_plan(plan);
  return plan;
}

StrategyRequest PlanFlags::request_of(ImportRequest files) const {
  files.question = question.question(QuestionParts::some);
  const ImportAnswer answer = import_files(files);
  StrategyRequest request = strategy_request(files, answer);
  if (!strategy["--flash-attention"]) return request;
  if (answer.settings.flash_attention) require_none("--flash-attention", "--import");
  request.strategy.strategy.flash_attention = strategy.strategy().strategy.flash_attention;
  request.strategy.flash_attention_given = true;
  return request;
}

}  // namespace plumbline::session
