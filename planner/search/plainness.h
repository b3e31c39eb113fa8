#pragma once
/// \file plainness.h: which of two plans is less work to set up and to watch.
///
/// Fewer kinds of parallelism come first, then no pipeline chunk without a layer, the more usual schedule, fewer
/// virtual stages, a split that needs no list of layers, less recompute, states shared no further than the optimizer's
/// (ZeRO-2 and 3 change what ranks hold and send in every pass), less memory. Not modelled: what a site is used to.
/// Checked against: tests/unit/planner/search/plainness_test.cpp.

#include <compare>
#include <cstdint>

#include "core/plan/strategy.h"
#include "core/quantity/quantity.h"

namespace plumbline {

struct Plainness {
  int dimensions = 0;  ///< tensor, context, pipeline and expert parallelism that are in use
  bool has_empty_chunk = false;
  int rarity = 0;  ///< of the schedule
  std::int32_t virtual_stages = 1;
  bool lists_layers = false;
  RecomputeMode recompute{};
  int zero_stage = 1;
  Bytes peak{0};

  friend auto operator<=>(const Plainness&, const Plainness&) = default;
};

/// Smaller is plainer. `peak`: memory of the plan.
[[nodiscard]] Plainness plainness(const Strategy& strategy, Bytes peak);

}  // namespace plumbline
