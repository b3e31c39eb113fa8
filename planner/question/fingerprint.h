#pragma once
/// \file fingerprint.h: short names of what was priced, so that a plan file tells whether its question has changed.
///
/// 64-bit FNV-1a over a canonical text, in hexadecimal. Not a security measure.

#include <string>
#include <string_view>

#include "core/graph/graph.h"
#include "core/machine/cluster.h"

namespace plumbline {

[[nodiscard]] std::string fingerprint(std::string_view text);
[[nodiscard]] std::string fingerprint(const Graph& graph);
[[nodiscard]] std::string fingerprint(const Cluster& cluster);

}  // namespace plumbline
