#include "core/program/v_half_grid.h"

#include <algorithm>

namespace plumbline::v_half {

std::vector<Kind> filled_slots(const RankSlots& slots) {
  std::int32_t last = -1;
  for (const std::vector<std::int32_t>& times : slots)
    if (!times.empty()) last = std::max(last, times.back());
  std::vector<Kind> filled(static_cast<std::size_t>(last + 1), idle);
  for (std::size_t kind = 0; kind < kinds; ++kind)
    for (const std::int32_t time : slots[kind]) filled[static_cast<std::size_t>(time)] = static_cast<Kind>(kind);
  return filled;
}

void fill_with_weight_gradients(RankSlots& slots, WeightQueues queues) {
  slots[weight].clear();
  slots[weight_0].clear();
  const std::vector<Kind> filled = filled_slots(slots);
  std::array<std::int32_t, 2> owed{};
  std::int32_t time = 0;
  const auto serve = [&] {
    const std::size_t queue = owed[0] > 0 ? 0 : 1;
    if (owed[queue] == 0) return;
    --owed[queue];
    slots[weight + queue].push_back(time);
  };
  for (; time < static_cast<std::int32_t>(filled.size()); ++time) {
    const Kind kind = filled[static_cast<std::size_t>(time)];
    if (kind == idle) serve();
    if (kind == input_1) ++owed[0];
    if (kind == input_0) ++owed[queues == WeightQueues::per_chunk ? 1 : 0];
  }
  for (; owed[0] + owed[1] > 0; ++time) serve();
}

std::int32_t peak_states(const std::vector<Kind>& filled, WeightGradients weights) {
  std::int32_t held = 0;
  std::int32_t peak = 0;
  std::int32_t owed = 0;
  for (const Kind kind : filled) {
    if (kind == forward_0 || kind == forward_1) peak = std::max(peak, ++held);
    if (kind == input_1 || kind == input_0) ++owed;
    if (kind == weight) --held;
    if (kind == idle && weights == WeightGradients::in_idle_slots && owed > 0) --owed, --held;
  }
  return peak;
}

}  // namespace plumbline::v_half
