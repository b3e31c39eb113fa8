#pragma once
/// \file network.h: the plan's network as constants of a script in plain PyTorch (templates/network.py builds it of
/// them).
///
/// Model: a decoder whose norms stand before their parts, as `plan run` executes it: sizes, norms, biases, rotary or
/// learned positions, windows, dropout, experts; and under which names of the Hub each of its parameters is published.
/// What else a network asks for is said, and a small stand-in of the same layers takes its place.
/// Source: models/import (sizes), models/published_tensors.h (names). Not modelled: adapters.
/// Checked against: tests/unit/planner/frameworks/pytorch/network_test.cpp; losses of `plan run` in
/// tests/integration/pytorch_training_test.py.

#include <optional>
#include <string>

#include "planner/frameworks/launch/launch_settings.h"

namespace plumbline::pytorch {

struct ScriptNetwork {
  Json network;          ///< sizes and what the operators compute
  Json published;        ///< parameter to [tensor, first row, whether it is transposed]; '*' a layer, '#' an expert
  std::string config;    ///< of Hugging Face, as JSON text; empty: there is none
  std::string stand_in;  ///< why the network is not the plan's; empty: it is
};
[[nodiscard]] ScriptNetwork script_network(const LaunchSettings& settings);
/// Layers of the plan's network, where it is known.
[[nodiscard]] std::optional<std::int64_t> layers_of_network(const LaunchSettings& settings);
/// "2 key-value heads for 4 tensor-parallel ranks": a sentence if the ranks cannot divide the heads; otherwise empty.
[[nodiscard]] std::string undivided_heads(const LaunchSettings& settings);

}  // namespace plumbline::pytorch
