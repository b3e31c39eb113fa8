#include <algorithm>

#include "core/program/pipeline_orders.h"

namespace plumbline {

RankOrder interleaved_order(const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t p = shape.pipeline_stages;
  const std::int32_t v = shape.virtual_stages;
  const std::int32_t passes = shape.micro_batches * v;
  const std::int32_t warm_up = std::min((v - 1) * p + 2 * (p - 1 - rank), passes);
  // Pass i: groups of p micro-batches go through all chunks before the next group enters.
  const auto chunk = [&](std::int32_t i) { return (i / p) % v; };
  const auto micro_batch = [&](std::int32_t i) { return i / (p * v) * p + i % p; };
  RankOrder order;
  order.reserve(2 * static_cast<std::size_t>(passes));
  for (std::int32_t i = 0; i < passes + warm_up; ++i) {
    if (i < passes) order.push_back({ActionKind::forward, chunk(i), micro_batch(i)});
    const std::int32_t back = i - warm_up;
    if (back >= 0) order.push_back({ActionKind::backward, v - 1 - chunk(back), micro_batch(back)});
  }
  return order;
}

}  // namespace plumbline
