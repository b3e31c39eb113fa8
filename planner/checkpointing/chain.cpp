#include "planner/checkpointing/chain.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::int64_t impossible = Picoseconds::largest().value();

/// Names as in the paper: C(s, t, m) is the time of stages s..t with m slots besides a_{s-1}.
class Recurrence {
 public:
  Recurrence(const Chain& chain, std::int64_t memory)
      : chain_(chain),
        n_(static_cast<std::int32_t>(chain.stages.size())),
        memory_(memory),
        best_(static_cast<std::size_t>((n_ + 1) * (n_ + 1)) * static_cast<std::size_t>(memory + 1), {impossible, 0}) {
    for (std::int32_t length = 1; length <= n_; ++length)
      for (std::int32_t s = 1; s + length - 1 <= n_; ++s)
        for (std::int64_t m = 0; m <= memory_; ++m) solve(s, s + length - 1, m);
  }

  [[nodiscard]] std::int64_t best(std::int32_t s, std::int32_t t, std::int64_t m) const {
    return m < 0 ? impossible : best_[slot(s, t, m)].time;
  }
  void write(std::int32_t s, std::int32_t t, std::int64_t m, std::vector<ChainStep>& steps) const;

 private:
  struct Cell {
    std::int64_t time = impossible;
    std::int32_t checkpoint = 0;  ///< q: a_{q-1} is kept; 0: the saved set of s is
  };
  [[nodiscard]] std::size_t slot(std::int32_t s, std::int32_t t, std::int64_t m) const {
    return static_cast<std::size_t>(s * (n_ + 1) + t) * static_cast<std::size_t>(memory_ + 1) +
           static_cast<std::size_t>(m);
  }
  [[nodiscard]] const ChainStage& stage(std::int32_t i) const { return chain_.stages[static_cast<std::size_t>(i - 1)]; }
  [[nodiscard]] std::int64_t a(std::int32_t i) const { return chain_.values[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t d(std::int32_t i) const { return chain_.gradients[static_cast<std::size_t>(i)]; }
  /// Whether forward s can write its saved set before, and backward s run after, everything up to t.
  [[nodiscard]] bool can_save(std::int32_t s, std::int32_t t, std::int64_t m) const {
    return m >= std::max(d(t) + stage(s).saved + stage(s).forward_overhead,
                         d(s) + stage(s).saved + d(s - 1) + stage(s).backward_overhead);
  }
  void solve(std::int32_t s, std::int32_t t, std::int64_t m);

  const Chain& chain_;
  std::int32_t n_;
  std::int64_t memory_;
  std::vector<Cell> best_;
};

void Recurrence::solve(std::int32_t s, std::int32_t t, std::int64_t m) {
  Cell& cell = best_[slot(s, t, m)];
  if (can_save(s, t, m)) {
    const std::int64_t own = (stage(s).forward + stage(s).backward).value();
    const std::int64_t rest = s == t ? 0 : best(s + 1, t, m - stage(s).saved);
    if (rest != impossible) cell = {own + rest, 0};
  }
  std::int64_t forward = 0;
  for (std::int32_t q = s + 1; q <= t; ++q) {
    const std::int32_t k = q - 1;  // the forward that reaches a_{q-1}
    if (d(t) + (k > s ? a(k - 1) : 0) + a(k) + stage(k).forward_overhead > m) break;
    forward += stage(k).forward.value();
    const std::int64_t behind = best(q, t, m - a(k));
    const std::int64_t again = best(s, k, m);
    if (behind == impossible || again == impossible) continue;
    if (forward + behind + again < cell.time) cell = {forward + behind + again, q};
  }
}

void Recurrence::write(std::int32_t s, std::int32_t t, std::int64_t m, std::vector<ChainStep>& steps) const {
  const std::int32_t q = best_[slot(s, t, m)].checkpoint;
  if (q == 0) {
    steps.push_back({ChainAction::forward_save, s});
    if (s < t) write(s + 1, t, m - stage(s).saved, steps);
    steps.push_back({ChainAction::backward, s});
    return;
  }
  for (std::int32_t k = s; k < q; ++k)
    steps.push_back({k + 1 == q ? ChainAction::forward_keep : ChainAction::forward_forget, k});
  write(q, t, m - a(q - 1), steps);
  write(s, q - 1, m, steps);
}

}  // namespace

Chain in_slots(Chain chain, std::int64_t slot, Rounding rounding) {
  const auto round = [&](std::int64_t& size) { size = (size + (rounding == Rounding::up ? slot - 1 : 0)) / slot; };
  for (auto* sizes : {&chain.values, &chain.gradients})
    for (std::int64_t& size : *sizes) round(size);
  for (ChainStage& stage : chain.stages) {
    round(stage.saved);
    round(stage.forward_overhead);
    round(stage.backward_overhead);
  }
  return chain;
}

std::optional<ChainSchedule> persistent_schedule(const Chain& chain, std::int64_t memory) {
  check(chain.values.size() == chain.stages.size() + 1 && chain.gradients.size() == chain.values.size(),
        "a chain has one value more than stages");
  const auto n = static_cast<std::int32_t>(chain.stages.size());
  const std::int64_t m = memory - chain.values.front();
  if (n == 0 || m < 0) return std::nullopt;
  const Recurrence recurrence(chain, m);
  if (recurrence.best(1, n, m) == impossible) return std::nullopt;
  ChainSchedule schedule{Picoseconds(recurrence.best(1, n, m)), {}};
  recurrence.write(1, n, m, schedule.steps);
  return schedule;
}

}  // namespace plumbline
