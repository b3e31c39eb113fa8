#pragma once
/// \file named_modes.h: what of recompute `--recompute` can name alongside "optimal": modes that treat every layer
/// alike.
///
/// Answers the modes; no unit. Model: none, selective, by operator, full, every n-th layer. Not among them: chosen
/// modules, which a strategy names itself; offloaded layers, which are not computed again but wait in host memory.
/// Checked against: tests/property/recompute_modes_test.cpp.

#include <vector>

#include "core/plan/strategy.h"

namespace plumbline {

/// For a network of `layers` layers, those that replay nothing first.
[[nodiscard]] std::vector<Recompute> named_modes(std::int64_t layers);

}  // namespace plumbline
