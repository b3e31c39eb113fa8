#include <algorithm>

#include "core/program/chunk_counters.h"
#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

void warm_up(ChunkCounters& next, std::int32_t p, std::int32_t rank) {
  for (std::int32_t i = 0; i < 2 * (p - rank) - 1; ++i) next.forward(0);
  for (std::int32_t i = 0; i < rank; ++i) {
    next.forward(1);
    next.forward(0);
  }
  for (std::int32_t i = 0; i < p - rank; ++i) {
    next.forward(1);
    next.backward_input(1);
    next.backward_weight(1);
  }
}

void steady(ChunkCounters& next, std::int32_t micro_batches) {
  while (next.forwards(1) < next.forwards(0) || next.forwards(0) < micro_batches) {
    if (next.forwards(0) < micro_batches) next.forward(0);
    next.backward_input(0);
    next.backward_weight(0);
    next.forward(1);
    next.backward_input(1);
    next.backward_weight(1);
  }
}

void cool_down(ChunkCounters& next, std::int32_t p, std::int32_t rank) {
  for (std::int32_t i = 0; i < rank; ++i) {
    next.backward_input(0);
    next.backward_input(1);
  }
  for (std::int32_t i = 0; i < p - rank; ++i) {
    next.backward_input(0);
    next.backward_weight(0);
  }
  while (next.weight_gradients(1) < next.input_gradients(1)) next.backward_weight(1);
  while (next.weight_gradients(0) < next.input_gradients(0)) next.backward_weight(0);
}

/// V placement; no bubble when forward, input and weight gradient take the same time; memory of 1F1B's first rank.
RankOrder zbv_order(const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t p = shape.pipeline_stages;
  ChunkCounters next;
  // The pattern needs 2 p - 1 micro-batches; with fewer, those that do not exist are left out of it.
  warm_up(next, p, rank);
  steady(next, std::max(2 * p - 1, shape.micro_batches));
  cool_down(next, p, rank);
  RankOrder order = std::move(next.order());
  std::erase_if(order, [&](const ComputeAction& a) { return a.micro_batch >= shape.micro_batches; });
  return order;
}

}  // namespace

constexpr ScheduleOrder zbv_schedule{.orders = rank_by_rank<zbv_order>, .repeats_from = 3};

}  // namespace plumbline
