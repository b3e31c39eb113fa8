#include "core/program/pipeline_orders.h"
#include "core/program/v_half_packer.h"

namespace plumbline {
namespace {

using namespace v_half;

constexpr std::int32_t interval = 6;  // three actions for each of two chunks

/// The building block of the paper, repeated: forwards go down two slots a rank and come up one, backwards likewise.
std::vector<RankSlots> repeated_pattern(std::int32_t p, std::int32_t m) {
  const std::int32_t gap = p % 2 == 0 ? 3 : 0;  // keeps the four actions of a rank in different slots of the interval
  std::vector<RankSlots> ranks(static_cast<std::size_t>(p));
  for (std::int32_t r = 0; r < p; ++r) {
    const std::array<std::int32_t, 4> starts{2 * r, 3 * p - r - 2, 3 * p + gap + 2 * r - 1, 6 * p + gap - r - 2};
    for (std::size_t kind = 0; kind < starts.size(); ++kind)
      for (std::int32_t i = 0; i < m; ++i)
        ranks[static_cast<std::size_t>(r)][kind].push_back(starts[kind] + interval * i);
  }
  return ranks;
}

std::vector<RankSlots> without_weight_gradients(std::vector<RankSlots> ranks) {
  for (RankSlots& slots : ranks) slots[weight].clear(), slots[weight_0].clear();
  return ranks;
}

RankOrder order_of(const RankSlots& slots) {
  constexpr std::array actions{
      ComputeAction{ActionKind::forward, 0},         ComputeAction{ActionKind::forward, 1},
      ComputeAction{ActionKind::backward_input, 1},  ComputeAction{ActionKind::backward_input, 0},
      ComputeAction{ActionKind::backward_weight, 1}, ComputeAction{ActionKind::backward_weight, 0}};
  std::array<std::int32_t, kinds> next{};
  RankOrder order;
  for (const Kind kind : filled_slots(slots)) {
    if (kind == idle) continue;
    const auto k = static_cast<std::size_t>(kind);
    order.push_back({actions[k].kind, actions[k].chunk, next[k]++});
  }
  return order;
}

/// V placement; half the memory of 1F1B's first rank. All ranks at once: they are packed together. O((p m)^2).
std::vector<RankOrder> v_half_orders(const PipelineShape& shape) {
  std::vector<RankSlots> ranks = repeated_pattern(shape.pipeline_stages, shape.micro_batches);
  ranks = packed(std::move(ranks), WeightGradients::in_grid);
  squeeze(ranks);
  // Weight gradients are placed anew around the packed fill; then the drain is packed once more.
  ranks = packed(without_weight_gradients(std::move(ranks)), WeightGradients::in_idle_slots);
  for (RankSlots& slots : ranks) fill_with_weight_gradients(slots, WeightQueues::one);
  squeeze(ranks);
  ranks = without_weight_gradients(std::move(ranks));
  std::vector<RankOrder> orders;
  for (RankSlots& slots : ranks) {
    fill_with_weight_gradients(slots, WeightQueues::per_chunk);
    orders.push_back(order_of(slots));
  }
  return orders;
}

}  // namespace

constexpr ScheduleOrder v_half_schedule{.orders = v_half_orders, .repeats_from = 3, .drain = Drain::packed_anew};

}  // namespace plumbline
