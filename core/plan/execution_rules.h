#pragma once
/// \file execution_rules.h: what of a network, a recipe and a strategy `plan run` executes: the one list that its
/// capability check, `plan search --executable` and docs/frameworks.md read.
///
/// Answers: nothing, or a problem that says what is not executed and what would be. Model: first what the network's
/// config asks for beyond its operators (OperatorConstants::not_executed), then each operator of its graph, then the
/// recipe; then what a strategy asks of them, one rule each. The facts of a network are found once, and a strategy is
/// held against them in time that does not grow with the network. Legal strategies alone (legality.h) are asked about.
/// Source: docs/running.md, sections "What of a network is executed" and "What of a plan is executed". Not modelled:
/// memory, data and where ranks are (runtime/run/capability_check.h and planner/session/compare/prepare_run.h check
/// these). Checked against: tests/property/execution_rules_test.cpp (as the runtime's check, over random networks and
/// plans), tests/error/capability_check_test.cpp (the words).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/errors.h"
#include "core/graph/graph.h"
#include "core/graph/operator_constants.h"
#include "core/plan/strategy.h"
#include "core/training/training.h"

namespace plumbline {

/// That a kernel of routing chooses among (kernels/router.h).
inline constexpr std::int64_t most_executed_experts = 512;
/// Ranks of one run.
inline constexpr std::int64_t most_executed_ranks = 1024;

/// A dimension of a parameter that ranks hold equal parts of.
struct DividedSize {
  std::string parameter;   ///< the first one of this size: "layers.0.mlp.up.weight"
  std::int64_t size = 0;   ///< rows or columns
  std::int64_t heads = 0;  ///< that are not divided themselves; 0: none
};

/// What frameworks' rules ask of a network and its recipe.
struct NetworkFacts {
  bool has_experts = false;
  bool ties_embedding = false;
  Optimizer optimizer = Optimizer::adamw;
  PrecisionRecipe precision = PrecisionRecipe::bf16;
  bool keeps_checkpoints_on_host = false;   ///< what full recompute keeps of a layer (LayerCheckpoints::on_host)
  std::vector<DividedSize> by_tensor = {};  ///< over the ranks of tensor parallelism; each size once
  std::vector<DividedSize> by_expert = {};
  std::vector<DividedSize> by_expert_tensor = {};
  std::optional<InputProblem> not_executed = {};  ///< whatever the strategy
};

/// `graph` as it is trained: frozen parameters and adapters written in.
[[nodiscard]] NetworkFacts network_facts(const Graph& graph, const OperatorConstants& constants,
                                         const Training& training);

/// A rule that strategies must keep to be executed.
struct ExecutionRule {
  std::string_view sentence;  ///< behind "plan run": "executes at most 1024 ranks"
  bool (*is_broken)(const Strategy& strategy, const NetworkFacts& network);
  InputProblem (*problem)(const Strategy& strategy, const NetworkFacts& network);  ///< where it is broken
};
[[nodiscard]] const std::vector<ExecutionRule>& execution_rules();

/// What speaks against the network, or the first rule that the strategy breaks.
[[nodiscard]] std::optional<InputProblem> first_not_executed(const Strategy& strategy, const NetworkFacts& network);

}  // namespace plumbline
