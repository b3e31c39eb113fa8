#include "core/program/v_half_packer.h"

#include <algorithm>
#include <compare>

namespace plumbline::v_half {
namespace {

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

}  // namespace

std::vector<RankSlots> packed(std::vector<RankSlots> ranks, WeightGradients weights) {
  return Packer(std::move(ranks), weights).run();
}

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

}  // namespace plumbline::v_half
