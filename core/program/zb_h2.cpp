#include "core/program/pipeline_orders.h"
#include "core/program/zero_bubble_order.h"

namespace plumbline {
namespace {

/// 2 (p - 1 - r) forwards of warm-up; weight gradients 2 r micro-batches behind: no bubble but what a global barrier
/// makes, for twice the memory.
///
/// With equal times the first input gradient reaches rank r when 2 (p - r) - 1 forwards fill the wait, and its last one
/// leaves early enough for rank 0 when 2 r + 1 weight gradients end the rank's step: a parallelogram without gaps.
RankOrder zb_h2_order(const PipelineShape& shape, std::int32_t rank) {
  return zero_bubble_order(shape.micro_batches, 2 * (shape.pipeline_stages - 1 - rank), 2 * rank);
}

}  // namespace

constexpr ScheduleOrder zb_h2_schedule{.orders = rank_by_rank<zb_h2_order>, .repeats_from = 2};

}  // namespace plumbline
