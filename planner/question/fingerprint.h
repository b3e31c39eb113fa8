#pragma once
/// \file fingerprint.h: short names of what was priced, so that a plan file tells whether its question has changed.
///
/// 64-bit FNV-1a over a canonical text, in hexadecimal. Not a security measure.

#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/machine/cluster.h"
#include "core/plan/plan.h"

namespace plumbline {

[[nodiscard]] std::string fingerprint(std::string_view text);
[[nodiscard]] std::string fingerprint(const Graph& graph);
[[nodiscard]] std::string fingerprint(const Cluster& cluster);
/// Of what is run: the model as it is trained, the recipe, the strategy. Not of the machine or what was predicted, so
/// that a run elsewhere, or after a calibration, is still a run of this plan.
[[nodiscard]] std::string fingerprint(const Plan& plan);

}  // namespace plumbline
