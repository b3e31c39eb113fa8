#pragma once
/// \file complexity.h: how much there is to set up and to watch in a plan, to tell which of two is simpler.
///
/// Compared in this order: kinds of parallelism in use, pipeline chunks without a layer, degrees that are no power of
/// two, how unusual the schedule is, virtual stages, whether layers are listed for each chunk, the mode of recompute
/// (in the order of RecomputeMode), the ZeRO stage above 1 (ZeRO-2 and 3 change what ranks hold and send in every pass,
/// ZeRO-1 does not), memory. Checked against: tests/unit/planner/search/complexity_test.cpp.

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/plan.h"
#include "core/plan/strategy.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct Complexity {
  int dimensions = 0;  ///< tensor, context, pipeline and expert parallelism that are in use
  bool has_empty_chunk = false;
  int odd_degrees = 0;  ///< that no power of two is, data parallelism's too
  int rarity = 0;       ///< of the schedule
  std::int32_t virtual_stages = 1;
  bool lists_layers = false;
  RecomputeMode recompute{};
  int zero_stage = 1;
  Bytes peak{0};

  friend auto operator<=>(const Complexity&, const Complexity&) = default;
};

/// The fewest tokens of a sequence on one context-parallel rank among the published layouts: 8 192 over two
/// (docs/published-layouts.md).
inline constexpr std::int64_t least_published_slice = 4096;
/// Virtual stages of the published layouts (the same).
inline constexpr std::array published_virtual_stages{2, 3, 4, 5, 6, 8, 10, 12, 20, 24};
/// What of a plan no published layout has, as words; empty: nothing.
[[nodiscard]] std::vector<std::string> unusual_choices(const Plan& plan);

/// Smaller is simpler. `peak`: memory of the plan.
[[nodiscard]] Complexity complexity(const Strategy& strategy, Bytes peak);

}  // namespace plumbline
