#pragma once
/// \file network_layers.h: how many layers a run's network has, and how they are split where nobody says it.
///
/// Checked against: tests/unit/planner/frameworks/launch/network_layers_test.cpp.

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline {

/// Layers of the network, where the catalogue or a config says it.
[[nodiscard]] std::optional<std::int64_t> known_layers(const LaunchSettings& settings);
/// Layers of each chunk of a strategy with an even split (core/plan/stage_split.h).
[[nodiscard]] std::vector<std::int32_t> even_split(std::int64_t layers, std::int64_t chunks);

}  // namespace plumbline
