#include "planner/launch/order_runs.h"

#include <algorithm>

namespace plumbline {
namespace {

bool is_later(const ComputeAction& action, const ComputeAction& first, std::int32_t step) {
  return action.kind == first.kind && action.chunk == first.chunk && action.overlap == first.overlap &&
         action.micro_batch == first.micro_batch + step;
}

/// How often the `length` actions at `begin` follow one another.
OrderRun repeated(const RankOrder& order, std::size_t begin, std::size_t length) {
  const auto at = order.begin() + static_cast<std::ptrdiff_t>(begin);
  OrderRun run{{at, at + static_cast<std::ptrdiff_t>(length)}, 1, 0};
  if (begin + 2 * length > order.size()) return run;
  run.step = order[begin + length].micro_batch - order[begin].micro_batch;
  std::size_t end = begin + length;
  while (end < order.size() && is_later(order[end], order[end - length], run.step)) ++end;
  run.times = static_cast<std::int32_t>((end - begin) / length);
  if (run.times == 1) run.step = 0;
  return run;
}

}  // namespace

std::vector<OrderRun> order_runs(const RankOrder& order, std::int32_t longest) {
  std::vector<OrderRun> runs;
  bool is_open = false;  // whether the last run takes single actions
  for (std::size_t i = 0; i < order.size();) {
    OrderRun best{{order[i]}, 1, 0};
    std::size_t saved = 0;
    for (std::size_t length = 1; length <= static_cast<std::size_t>(longest) && i + length <= order.size(); ++length) {
      const auto times = static_cast<std::size_t>(repeated(order, i, length).times);
      if (times < 2 || (times - 1) * length <= saved) continue;
      saved = (times - 1) * length;
      best = repeated(order, i, length);
    }
    i += best.actions.size() * static_cast<std::size_t>(best.times);
    if (best.times == 1 && is_open)
      runs.back().actions.push_back(best.actions.front());
    else
      runs.push_back(best);
    is_open = best.times == 1;
  }
  return runs;
}

RankOrder expanded(const std::vector<OrderRun>& runs) {
  RankOrder order;
  for (const OrderRun& run : runs)
    for (std::int32_t time = 0; time < run.times; ++time)
      for (ComputeAction action : run.actions) {
        action.micro_batch += time * run.step;
        order.push_back(action);
      }
  return order;
}

}  // namespace plumbline
