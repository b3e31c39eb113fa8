#include <algorithm>

#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

/// min(p - 1 - r, m) forwards, then a forward and a backward in turn, then the backwards that are left.
RankOrder one_f_one_b_order(const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t m = shape.micro_batches;
  const std::int32_t warm_up = std::min(shape.pipeline_stages - 1 - rank, m);
  RankOrder order;
  for (std::int32_t i = 0; i < m + warm_up; ++i) {
    if (i < m) order.push_back({ActionKind::forward, 0, i});
    if (i >= warm_up) order.push_back({ActionKind::backward, 0, i - warm_up});
  }
  return order;
}

}  // namespace

constexpr ScheduleOrder one_f_one_b_schedule{.orders = rank_by_rank<one_f_one_b_order>, .repeats_from = 1};
/// One stage is a pipeline of one.
constexpr ScheduleOrder none_schedule{.orders = rank_by_rank<one_f_one_b_order>, .repeats_from = 1};

}  // namespace plumbline
