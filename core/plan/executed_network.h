#pragma once
/// \file executed_network.h: what of a network and its recipe `plan run` does not execute, whatever the strategy.
///
/// Checked against: tests/error/capability_check_test.cpp.

#include "core/plan/execution_rules.h"

namespace plumbline {

[[nodiscard]] bool has_experts(const Graph& graph);

/// The first problem: of the config, of an operator by its name and block, or of the recipe.
[[nodiscard]] std::optional<InputProblem> network_problem(const Graph& graph, const OperatorConstants& constants,
                                                          const Training& training);

}  // namespace plumbline
