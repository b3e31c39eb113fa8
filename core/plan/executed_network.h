#pragma once
/// \file executed_network.h: what of a network and its recipe `plan run` does not execute, whatever the strategy.
///
/// Checked against: tests/error/capability_check_test.cpp.

#include "core/plan/execution_rules.h"

namespace plumbline {

/// Why `plan run` refuses a plan: `what` it asks for, and what is expected instead.
[[nodiscard]] inline InputProblem not_executed(const std::string& what, const std::string& expected) {
  return InputProblem{"--plan", what, expected, ""};
}

[[nodiscard]] bool has_experts(const Graph& graph);

/// The first problem: of the config, of an operator by its name and block, or of the recipe.
[[nodiscard]] std::optional<InputProblem> network_problem(const Graph& graph, const OperatorConstants& constants,
                                                          const Training& training);

}  // namespace plumbline
