#pragma once
/// \file divided_dimensions.h: which dimensions of a network's parameters the ranks of an axis divide among themselves.
///
/// Model: as core/program/parameter_layout.cpp lays them out: a column-parallel weight by its rows, a row-parallel
/// one by its columns, experts by their number, and each of them likewise over the ranks that share an expert.
/// Checked against: tests/property/execution_rules_test.cpp.

#include "core/plan/execution_rules.h"

namespace plumbline {

/// Fills `by_tensor`, `by_expert` and `by_expert_tensor`.
void add_divided_dimensions(NetworkFacts& facts, const Graph& graph);

}  // namespace plumbline
