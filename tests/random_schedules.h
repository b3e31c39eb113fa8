#pragma once
/// \file random_schedules.h: schedules and stage times at random, the same in every run.

#include <random>

#include "core/program/order_makespan.h"

namespace plumbline {

class RandomSchedules {
 public:
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(engine_() % static_cast<std::uint32_t>(high - low + 1));
  }
  Picoseconds time(std::int32_t low, std::int32_t high) { return Picoseconds(between(low, high)); }

  /// All forwards, then backwards, whole or split; then `swaps` exchanges of neighbours on each rank.
  ComputeSchedule schedule(int swaps) {
    const bool v_shaped = between(0, 2) == 0;
    const PipelineShape shape{between(2, 4), v_shaped ? 2 : between(1, 2), between(1, 4)};
    ComputeSchedule result{shape, v_shaped ? StagePlacement::v_shaped : StagePlacement::looped, {}};
    for (std::int32_t rank = 0; rank < shape.pipeline_stages; ++rank) {
      RankOrder& order = result.ranks.emplace_back();
      for (std::int32_t c = 0; c < shape.virtual_stages; ++c)
        for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::forward, c, i});
      for (std::int32_t c = shape.virtual_stages; c-- > 0;)
        for (std::int32_t i = 0; i < shape.micro_batches; ++i) add_backward(order, c, i);
      for (int n = 0; n < swaps; ++n) {
        const auto at = static_cast<std::size_t>(between(0, static_cast<std::int32_t>(order.size()) - 2));
        std::swap(order[at], order[at + 1]);
      }
    }
    return result;
  }
  StageTimes times(const PipelineShape& shape) {
    StageTimes t;
    for (std::int32_t s = 0; s < shape.stages(); ++s) {
      t.forward.push_back(time(1, 9));
      t.backward_input.push_back(time(1, 9));
      t.backward_weight.push_back(time(0, 9));
      if (s > 0) t.latency.push_back(time(0, 5));
    }
    return t;
  }

 private:
  void add_backward(RankOrder& order, std::int32_t chunk, std::int32_t i) {
    if (between(0, 1) == 0) {
      order.push_back({ActionKind::backward, chunk, i});
    } else {
      order.push_back({ActionKind::backward_input, chunk, i});
      order.push_back({ActionKind::backward_weight, chunk, i});
    }
  }
  std::mt19937 engine_{20240610};
};

}  // namespace plumbline
