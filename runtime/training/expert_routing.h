#pragma once
/// \file expert_routing.h: who chooses a token's experts.
///
/// Source: Megatron-LM's --moe-router-force-load-balancing, with which benchmarks run. Checked against:
/// tests/runtime/execution/experts_test.cpp.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"

namespace plumbline {

/// `learned`: the router, dropless. `balanced`: the token's place in the batch, in turn, weighted by the router; every
/// rank gets the rows that memory and wire are predicted for.
enum class ExpertRouting : std::uint8_t { learned, balanced };
inline constexpr std::array all_expert_routings{ExpertRouting::learned, ExpertRouting::balanced};
[[nodiscard]] constexpr std::string_view to_text(ExpertRouting routing) {
  return routing == ExpertRouting::learned ? "learned" : "balanced";
}
[[nodiscard]] constexpr std::optional<ExpertRouting> expert_routing_from_text(std::string_view text) {
  return value_named(all_expert_routings, text);
}

}  // namespace plumbline
