#include <algorithm>
#include <tuple>

#include "core/program/pipeline_orders.h"
#include "core/program/v_half_grid.h"

namespace plumbline {
namespace {

using namespace v_half;

constexpr std::int32_t interval = 6;  // three actions for each of two chunks

struct Placed {
  std::int32_t time;
  std::size_t rank;
  std::size_t kind;
  std::size_t micro_batch;
  auto operator<=>(const Placed&) const = default;
};

/// All ranks' actions, earliest first; of the same time, the lower rank first.
std::vector<Placed> in_time_order(const std::vector<RankSlots>& ranks) {
  std::vector<Placed> all;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (std::size_t k = 0; k < kinds; ++k)
      for (std::size_t i = 0; i < ranks[r][k].size(); ++i) all.push_back({ranks[r][k][i], r, k, i});
  std::sort(all.begin(), all.end());
  return all;
}

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

/// Moves actions of the fill and of the drain into earlier idle slots as long as no rank holds more states.
class Packer {
 public:
  Packer(std::vector<RankSlots> ranks, WeightGradients weights) : ranks_(std::move(ranks)), weights_(weights) {
    for (RankSlots& slots : ranks_) {
      if (weights_ == WeightGradients::in_grid) fill_with_weight_gradients(slots, WeightQueues::one);
      filled_.push_back(filled_slots(slots));
      most_states_ = std::max(most_states_, peak_states(filled_.back(), weights_));
    }
  }

  std::vector<RankSlots> run() {
    enum class Phase { fill, steady, drain } phase = Phase::fill;
    const std::size_t last = ranks_.front()[forward_0].size() - 1;
    for (const Placed& action : in_time_order(ranks_)) {
      if (phase == Phase::fill && action.kind == input_0 && action.rank == 0) phase = Phase::steady;
      const bool fixed = phase == Phase::steady || (phase == Phase::fill && weights_ == WeightGradients::in_idle_slots);
      if (phase == Phase::steady && action.kind == forward_0 && action.micro_batch == last) phase = Phase::drain;
      if (!fixed) move_earlier(action);
    }
    return std::move(ranks_);
  }

 private:
  [[nodiscard]] std::int32_t after(std::size_t rank, std::size_t kind, std::size_t micro_batch) const {
    return ranks_[rank][kind][micro_batch] + 1;
  }

  [[nodiscard]] std::int32_t earliest(const Placed& a) const {
    std::int32_t time = a.micro_batch > 0 ? after(a.rank, a.kind, a.micro_batch - 1) : 0;
    const bool downwards = a.kind == forward_0 || a.kind == input_1;
    const bool upwards = a.kind == forward_1 || a.kind == input_0;
    if (downwards && a.rank > 0) time = std::max(time, after(a.rank - 1, a.kind, a.micro_batch));
    if (upwards && a.rank + 1 < ranks_.size()) time = std::max(time, after(a.rank + 1, a.kind, a.micro_batch));
    if (a.kind > forward_0 && a.kind < weight) time = std::max(time, after(a.rank, a.kind - 1, a.micro_batch));
    if (a.kind == weight) time = std::max(time, input_gradient(a.rank, a.micro_batch) + 1);
    return time;
  }

  /// The slot of the n-th input gradient of either chunk.
  [[nodiscard]] std::int32_t input_gradient(std::size_t rank, std::size_t n) const {
    for (std::size_t time = 0;; ++time) {
      const Kind kind = filled_[rank][time];
      if ((kind == input_0 || kind == input_1) && n-- == 0) return static_cast<std::int32_t>(time);
    }
  }

  void move_earlier(const Placed& a) {
    std::vector<Kind>& filled = filled_[a.rank];
    const auto here = static_cast<std::size_t>(a.time);
    for (auto time = static_cast<std::size_t>(earliest(a)); time < here; ++time) {
      if (filled[time] != idle) continue;
      std::swap(filled[time], filled[here]);
      if (peak_states(filled, weights_) <= most_states_) {
        ranks_[a.rank][a.kind][a.micro_batch] = static_cast<std::int32_t>(time);
        return;
      }
      std::swap(filled[time], filled[here]);
    }
  }

  std::vector<RankSlots> ranks_;
  WeightGradients weights_;
  std::vector<std::vector<Kind>> filled_;
  std::int32_t most_states_ = 0;
};

/// The same order with every action as early as its inputs and its rank allow.
void squeeze(std::vector<RankSlots>& ranks) {
  std::vector<std::int32_t> clocks(ranks.size(), 0);
  for (const Placed& a : in_time_order(ranks)) {
    std::int32_t time = clocks[a.rank];
    const auto wait_for = [&](std::size_t rank, std::size_t kind) {
      time = std::max(time, ranks[rank][kind][a.micro_batch] + 1);
    };
    if ((a.kind == forward_0 || a.kind == input_1) && a.rank > 0) wait_for(a.rank - 1, a.kind);
    if ((a.kind == forward_1 || a.kind == input_0) && a.rank + 1 < ranks.size()) wait_for(a.rank + 1, a.kind);
    if (a.kind > forward_0 && a.kind < weight) wait_for(a.rank, a.kind - 1);
    ranks[a.rank][a.kind][a.micro_batch] = time;
    clocks[a.rank] = time + 1;
  }
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

}  // namespace

std::vector<RankOrder> v_half_orders(const PipelineShape& shape) {
  std::vector<RankSlots> ranks = repeated_pattern(shape.pipeline_stages, shape.micro_batches);
  ranks = Packer(std::move(ranks), WeightGradients::in_grid).run();
  squeeze(ranks);
  // Weight gradients are placed anew around the packed fill; then the drain is packed once more.
  ranks = Packer(without_weight_gradients(std::move(ranks)), WeightGradients::in_idle_slots).run();
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

}  // namespace plumbline
