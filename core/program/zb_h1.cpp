#include "core/program/pipeline_orders.h"
#include "core/program/zero_bubble_order.h"

namespace plumbline {

RankOrder zb_h1_order(const PipelineShape& shape, std::int32_t rank) {
  return zero_bubble_order(shape.micro_batches, shape.pipeline_stages - 1 - rank, rank);
}

}  // namespace plumbline
