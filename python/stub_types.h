#pragma once
/// \file stub_types.h: the types in Python of arguments and of a strategy's keys, as the package's stub spells them.
///
/// Model: the words that help shows for a value say its kind, "N" a count, MODEL the name of a file. Words that have no
/// type here are our bug, so that no argument is without one.
/// Checked against: tests/python/surface_test.py.

#include <string>
#include <utility>
#include <vector>

#include "core/base/option.h"
#include "core/plan/strategy_axes.h"

namespace plumbline::python {

/// A name and its type: {"--gpus", "_Count"}.
using TypedName = std::pair<std::string, std::string>;

[[nodiscard]] std::string argument_type(const OptionWords& words);
[[nodiscard]] std::string argument_type(const StrategyAxis& axis);
/// The keys of a strategy in every answer, in their order; its recipe has others.
[[nodiscard]] std::vector<TypedName> strategy_keys();

}  // namespace plumbline::python
