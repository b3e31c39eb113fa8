#pragma once
/// \file own_settings.h: a change of strategy in the words of a framework's own launch files.
///
/// Model: both strategies are written as `plan export` writes them; the lines of the target's configuration (arguments,
/// JSON, TOML, YAML, overrides) that only the second has say the change, "without ..." those that only the first has
/// and the second replaces by nothing. Not said: targets whose files are scripts, strategies that they cannot launch.
/// Checked against: tests/unit/planner/session/export/own_settings_test.cpp.

#include <string>

#include "planner/frameworks/framework.h"
#include "planner/session/estimate.h"

namespace plumbline::session {

/// For example "--tensor-model-parallel-size 4, without --sequence-parallel"; empty if nothing can be said.
[[nodiscard]] std::string own_settings(const PricedQuestion& asked, const Strategy& before, const Strategy& after,
                                       Framework framework);

}  // namespace plumbline::session
