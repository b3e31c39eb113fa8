#include "core/program/pipeline_orders.h"
#include "core/program/zero_bubble_order.h"

namespace plumbline {
namespace {

/// 1F1B's warm-up; weight gradients r micro-batches behind the input gradients. Memory of 1F1B's first rank.
RankOrder zb_h1_order(const PipelineShape& shape, std::int32_t rank) {
  return zero_bubble_order(shape.micro_batches, shape.pipeline_stages - 1 - rank, rank);
}

}  // namespace

constexpr ScheduleOrder zb_h1_schedule{.orders = rank_by_rank<zb_h1_order>, .repeats_from = 1};

}  // namespace plumbline
