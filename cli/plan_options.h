#pragma once
/// \file plan_options.h: one strategy for one question, from flags or from a plan file, priced.

#include <optional>
#include <string>

#include "cli/question_options.h"
#include "cli/strategy_options.h"
#include "core/plan/plan.h"

namespace plumbline {

/// A question, the strategy asked about, and what is predicted of it.
struct PricedQuestion {
  Question question;
  Strategy strategy;
  Plan plan;
  std::string remark;  ///< names that could also be files, a plan made for another model than is here now; or empty
};

/// Throws InputError when the strategy is not legal, and what Question throws.
[[nodiscard]] PricedQuestion priced(const QuestionText& text, const PartialStrategy& strategy);
/// Reads a plan file and prices it anew. `options` may add tokens and a stack.
[[nodiscard]] PricedQuestion priced_file(const std::string& file, const QuestionOptions& options);
/// `evaluate`, signed by this program. Throws InputError where the step is too long to be priced.
[[nodiscard]] Plan signed_plan(const Question& question, const Strategy& strategy);

class PlanOptions {
 public:
  void declare(CLI::App& app);
  [[nodiscard]] PricedQuestion asked() const;

 private:
  QuestionOptions question_;
  StrategyOptions strategy_;
  std::optional<std::string> plan_file_;
};

}  // namespace plumbline
