#include "core/program/dry_run.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

class DryRunner {
 public:
  explicit DryRunner(const ComputeSchedule& schedule)
      : schedule_(schedule),
        results_(std::int64_t{schedule.shape.stages()} * schedule.shape.micro_batches),
        filled_(static_cast<std::size_t>(2 * results_)),
        next_(schedule.ranks.size()) {
    result_.slots = 2 * results_;
    for (const RankOrder& order : schedule.ranks) actions_ += order.size();
    result_.steps.reserve(actions_);
  }

  DryRun run() {
    for (std::int32_t rank = schedule_.shape.pipeline_stages - 1; rank >= 0; --rank) woken_.push_back(rank);
    while (!woken_.empty()) {
      const std::int32_t rank = woken_.back();
      woken_.pop_back();
      advance(rank);
    }
    if (result_.steps.size() < actions_) result_.deadlock = deadlock();
    return std::move(result_);
  }

 private:
  void advance(std::int32_t rank) {
    const RankOrder& order = schedule_.ranks[static_cast<std::size_t>(rank)];
    for (std::size_t& next = next_[static_cast<std::size_t>(rank)]; next < order.size(); ++next) {
      const DryRunStep step = step_of(rank, order[next]);
      if (step.input >= 0 && !filled_[static_cast<std::size_t>(step.input)]) return;
      if (step.output >= 0) {
        filled_[static_cast<std::size_t>(step.output)] = true;
        wake_reader(step);
      }
      result_.steps.push_back(step);
    }
  }

  /// The one rank, if another one, whose next action may wait for the step's result.
  void wake_reader(const DryRunStep& step) {
    const std::int32_t stage = step.stage + (step.kind == ActionKind::forward ? 1 : -1);
    if (stage < 0 || stage >= schedule_.shape.stages()) return;
    const std::int32_t rank = schedule_.rank_of(stage);
    if (rank != step.rank) woken_.push_back(rank);
  }

  [[nodiscard]] std::int64_t forward_slot(std::int32_t stage, std::int32_t m) const {
    return std::int64_t{stage} * schedule_.shape.micro_batches + m;
  }

  [[nodiscard]] DryRunStep step_of(std::int32_t rank, const ComputeAction& action) const {
    const std::int32_t stage = schedule_.stage(rank, action.chunk);
    const std::int64_t own = forward_slot(stage, action.micro_batch);
    DryRunStep step{action.kind, rank, stage};
    if (action.kind == ActionKind::backward_weight) {
      step.input = results_ + own;
    } else if (action.kind == ActionKind::forward) {
      step.output = own;
      if (stage > 0) read(step, stage - 1, forward_slot(stage - 1, action.micro_batch), stage - 1);
    } else {
      step.output = results_ + own;
      if (stage + 1 == schedule_.shape.stages()) {
        step.input = own;
      } else {
        read(step, stage + 1, results_ + forward_slot(stage + 1, action.micro_batch), stage);
      }
    }
    return step;
  }

  void read(DryRunStep& step, std::int32_t stage, std::int64_t slot, std::int32_t boundary) const {
    step.input = slot;
    if (schedule_.rank_of(stage) != step.rank) step.hop = boundary;
  }

  /// Every rank that is not done waits for one slot of one rank, so following them ends in a cycle.
  [[nodiscard]] Deadlock deadlock() const {
    std::vector<std::int32_t> seen_at(schedule_.ranks.size(), -1);
    std::vector<Wait> path;
    std::int32_t rank = 0;
    while (next_[static_cast<std::size_t>(rank)] == schedule_.ranks[static_cast<std::size_t>(rank)].size()) ++rank;
    while (seen_at[static_cast<std::size_t>(rank)] < 0) {
      seen_at[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(path.size());
      path.push_back(wait_of(rank));
      rank = path.back().needed.rank;
    }
    path.erase(path.begin(), path.begin() + seen_at[static_cast<std::size_t>(rank)]);
    return {path};
  }

  [[nodiscard]] Wait wait_of(std::int32_t rank) const {
    const std::size_t next = next_[static_cast<std::size_t>(rank)];
    const DryRunStep waiting = step_of(rank, schedule_.ranks[static_cast<std::size_t>(rank)][next]);
    const auto stage = static_cast<std::int32_t>(waiting.input % results_ / schedule_.shape.micro_batches);
    const std::int32_t maker = schedule_.rank_of(stage);
    const RankOrder& order = schedule_.ranks[static_cast<std::size_t>(maker)];
    const auto found = std::find_if(order.begin(), order.end(), [&](const ComputeAction& action) {
      return step_of(maker, action).output == waiting.input;
    });
    check(found != order.end(), "an order without faults fills every slot");
    return {{rank, static_cast<std::int32_t>(next)}, {maker, static_cast<std::int32_t>(found - order.begin())}};
  }

  const ComputeSchedule& schedule_;
  std::int64_t results_;
  std::vector<bool> filled_;
  std::vector<std::size_t> next_;
  std::vector<std::int32_t> woken_;
  std::size_t actions_ = 0;
  DryRun result_;
};

}  // namespace

DryRun dry_run(const ComputeSchedule& schedule) { return DryRunner(schedule).run(); }

std::string to_text(const Deadlock& deadlock, const ComputeSchedule& schedule) {
  const auto text = [&](const ActionPlace& place) {
    const RankOrder& order = schedule.ranks[static_cast<std::size_t>(place.rank)];
    return to_text(order[static_cast<std::size_t>(place.position)], schedule.shape.virtual_stages);
  };
  std::string result;
  for (const Wait& wait : deadlock.cycle) {
    result += result.empty() ? "rank " + std::to_string(wait.waiting.rank) : ", which";
    result += " waits at " + text(wait.waiting) + " for " + text(wait.needed) + " of rank " +
              std::to_string(wait.needed.rank);
  }
  return result;
}

}  // namespace plumbline
