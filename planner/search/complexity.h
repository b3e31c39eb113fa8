#pragma once
/// \file complexity.h: how much there is to set up and to watch in a plan, to tell which of two is simpler.
///
/// Compared in this order: kinds of parallelism in use, pipeline chunks without a layer, how unusual the schedule is,
/// virtual stages, whether layers are listed for each chunk, the mode of recompute (in the order of RecomputeMode),
/// the ZeRO stage above 1 (ZeRO-2 and 3 change what ranks hold and send in every pass, ZeRO-1 does not), memory.
/// Checked against: tests/unit/planner/search/complexity_test.cpp.

#include <compare>
#include <cstdint>

#include "core/plan/strategy.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct Complexity {
  int dimensions = 0;  ///< tensor, context, pipeline and expert parallelism that are in use
  bool has_empty_chunk = false;
  int rarity = 0;  ///< of the schedule
  std::int32_t virtual_stages = 1;
  bool lists_layers = false;
  RecomputeMode recompute{};
  int zero_stage = 1;
  Bytes peak{0};

  friend auto operator<=>(const Complexity&, const Complexity&) = default;
};

/// Smaller is simpler. `peak`: memory of the plan.
[[nodiscard]] Complexity complexity(const Strategy& strategy, Bytes peak);

}  // namespace plumbline
