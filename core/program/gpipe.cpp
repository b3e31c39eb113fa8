#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

/// All forwards, then all backwards, both in the order of the micro-batches.
RankOrder gpipe_order(const PipelineShape& shape, std::int32_t) {
  RankOrder order;
  for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::forward, 0, i});
  for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::backward, 0, i});
  return order;
}

}  // namespace

constexpr ScheduleOrder gpipe_schedule{.orders = rank_by_rank<gpipe_order>};

}  // namespace plumbline
