#include "core/program/zero_bubble_order.h"

#include <algorithm>

namespace plumbline {

RankOrder zero_bubble_order(std::int32_t m, std::int32_t warm_up, std::int32_t delay) {
  warm_up = std::min(warm_up, m);
  delay = std::min(delay, m);
  RankOrder order;
  for (std::int32_t i = 0; i < m + warm_up; ++i) {
    if (i < m) order.push_back({ActionKind::forward, 0, i});
    const std::int32_t back = i - warm_up;
    if (back >= 0) order.push_back({ActionKind::backward_input, 0, back});
    if (back >= delay) order.push_back({ActionKind::backward_weight, 0, back - delay});
  }
  for (std::int32_t i = m - delay; i < m; ++i) order.push_back({ActionKind::backward_weight, 0, i});
  return order;
}

}  // namespace plumbline
