#pragma once
/// \file parameter_layouts.h: the parameter layouts of all ranks of a plan.

#include "core/base/errors.h"
#include "core/plan/rank_group.h"
#include "core/program/parameter_layout.h"
#include "runtime/run/rank_checkpoint.h"
#include "tests/executed.h"

namespace plumbline {

/// By rank; nothing where ranks do not divide a parameter evenly, which the capability check refuses.
[[nodiscard]] inline std::optional<std::vector<ParameterLayout>> parameter_layouts(const LoweredPlan& plan) {
  std::vector<ParameterLayout> layouts;
  try {
    for (std::int32_t rank = 0; rank < plan.strategy.devices(); ++rank) {
      const auto stage = static_cast<std::size_t>(coordinate(plan.strategy, Axis::pipeline, rank));
      layouts.push_back(
          parameter_layout(plan.graph, plan.strategy, plan.training, executions_of(plan.program.ranks[stage]), rank));
    }
  } catch (const InternalError&) {
    return std::nullopt;
  }
  return layouts;
}

}  // namespace plumbline
