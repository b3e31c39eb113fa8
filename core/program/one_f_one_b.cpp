#include <algorithm>

#include "core/program/pipeline_orders.h"

namespace plumbline {

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

}  // namespace plumbline
