#include <algorithm>

#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

/// (v - 1) p + 2 (p - 1 - r) chunk forwards of warm-up; micro-batches pass the chunks in groups of p.
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

}  // namespace

constexpr ScheduleOrder interleaved_schedule{.orders = rank_by_rank<interleaved_order>,
                                             .repeats_from = 3,
                                             .period = RepeatingPeriod::pipeline_stages,
                                             .peaks = interleaved_peak_loads};

}  // namespace plumbline
