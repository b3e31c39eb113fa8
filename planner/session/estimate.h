#pragma once
/// \file estimate.h: one strategy for one question, priced: what `plan estimate` answers and other use-cases go on
/// from.
///
/// A session is what the command line, a window and a script share: each use-case takes a value and returns one, prints
/// nothing, writes no file and reads only the models, machines and stacks that a request names. Wrong input is an
/// InputError in the words that the command line prints.
/// Checked against: tests/unit/planner/session/estimate_test.cpp.

#include <optional>
#include <string>
#include <variant>

#include "core/io/json.h"
#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline::session {

/// A strategy as somebody asks for it: what it leaves open follows from the question.
struct StrategyRequest {
  QuestionText question;
  PartialStrategy strategy;
  Json network_config = {};  ///< of Hugging Face, in place of the question's model, which then names it; null: none
  std::string warning = {};  ///< what to say about where it comes from; or empty
  /// Sentences about what its launch files say and this program cannot price, which decides memory and time.
  std::vector<std::string> not_modelled = {};
  std::string chosen = {};  ///< a sentence on how it was chosen, where nobody gave one (best_strategy); or empty
};

/// A plan that was written before, to be priced as model, machine and calibration are now.
struct PlanRequest {
  Plan plan;
  std::string name;                              ///< of its file, for messages
  std::optional<std::int64_t> token_budget;      ///< in place of the plan's
  std::optional<std::int64_t> sample_budget;     ///< in place of either
  std::optional<Dollars> price_per_device_hour;  ///< in place of the machine's
  std::optional<std::string> stack;              ///< in place of the plan's; empty text: the usual one
  StackChoices choices = {};                     ///< in place of the stack's
  bool tensor_parallel_across_nodes = false;     ///< the plan's own strategy may cross them anyway
  std::optional<Headroom> headroom = {};         ///< in place of the plan's
  Json written = {};                             ///< the file as a whole, which must say what follows from its strategy
};

using EstimateRequest = std::variant<StrategyRequest, PlanRequest>;

/// A question, the strategy asked about, and what is predicted of it. Immutable once made; may be shared by threads.
struct PricedQuestion {
  Question question;
  Strategy strategy;
  Plan plan;
  std::string warning;  ///< names that could also be files, a plan made for another model than is here now; or empty
  std::string written_config = {};  ///< of Hugging Face, where the network was read from the plan itself; or empty
  std::string chosen = {};          ///< StrategyRequest::chosen
};

/// Throws InputError: what Question throws, a strategy that is not legal, a step beyond what is priced. Cannot be
/// stopped: one plan takes milliseconds, with an optimal recompute up to seconds.
/// Of a plan file, InputError too where its layout or launch (planner/session/plan_file.h) says something else than
/// follows from its strategy: of the same network and machine, written by this version of the program. A network file
/// that is not here any more is replaced by the config in the plan.
[[nodiscard]] PricedQuestion estimate(const EstimateRequest& request);

/// What `plan estimate --json` prints: a plan's JSON, with how its strategy was chosen as "chosen" where nobody gave
/// one.
[[nodiscard]] Json with_chosen(const Json& plan, const PricedQuestion& asked);

/// `evaluate` (planner/question), signed by this program. Throws InputError where the step is too long to be priced.
[[nodiscard]] Plan signed_plan(const Question& question, const Strategy& strategy, KnownPrograms* known = nullptr);

}  // namespace plumbline::session
