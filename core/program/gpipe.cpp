#include "core/program/pipeline_orders.h"

namespace plumbline {

RankOrder gpipe_order(const PipelineShape& shape, std::int32_t) {
  RankOrder order;
  for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::forward, 0, i});
  for (std::int32_t i = 0; i < shape.micro_batches; ++i) order.push_back({ActionKind::backward, 0, i});
  return order;
}

}  // namespace plumbline
