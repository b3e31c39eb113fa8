#include "core/simulate/timeline.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/program/program_walk.h"
#include "core/simulate/event_simulation.h"

namespace plumbline {
namespace {

/// Where nothing runs alongside anything: every end follows from earlier ends, in one sweep.
class Clock {
 public:
  Clock(const Program& program, const ActionTimes& times, const TimelineOptions& options)
      : program_(program), times_(times), slowdown_(options.slowdown) {
    for (const RankProgram& rank : program.ranks) result_.of_rank.emplace_back(rank.actions.size());
    slowdown_.resize(program.ranks.size(), 1.0);
  }

  void visit(std::int32_t rank, std::int32_t index) {
    const auto r = static_cast<std::size_t>(rank);
    const auto i = static_cast<std::size_t>(index);
    const Action& action = program_.ranks[r].actions[i];
    const std::vector<Span>& row = result_.of_rank[r];
    Picoseconds start = action.barrier() == Barrier::none || times_.steps_early ? Picoseconds(0) : all_ended_;
    // Needs of queues name actions that run alongside others.
    for (const std::int32_t need : {action.needs[0], action.needs[1]})
      if (need >= 0) start = std::max(start, row[static_cast<std::size_t>(need)].end);
    if (const StageMessage* received = received_by(action)) start = std::max(start, sent(*received).end);
    const Picoseconds end = start + alone(action, times_.of_rank[r][i], slowdown_[r]);
    result_.of_rank[r][i] = {start, end};
    latest_ = std::max(latest_, end);
    if (action.pass() != Pass::step) result_.micro_batches_end = std::max(result_.micro_batches_end, end);
    if (!std::holds_alternative<OptimizerStep>(action.what))
      result_.reductions_end = std::max(result_.reductions_end, end);
  }
  void at_barrier() { all_ended_ = latest_; }

  Timeline finish() {
    result_.step = latest_ + times_.overhead;
    return std::move(result_);
  }

 private:
  [[nodiscard]] const Span& sent(const StageMessage& receive) const {
    return result_.of_rank[static_cast<std::size_t>(receive.peer)][static_cast<std::size_t>(receive.peer_action)];
  }

  const Program& program_;
  const ActionTimes& times_;
  std::vector<double> slowdown_;
  Timeline result_;
  Picoseconds latest_{0};
  Picoseconds all_ended_{0};
};

/// When a rank's step begins: its first compute without waiting for its input, what comes before it included.
Picoseconds own_begin(const RankProgram& rank, const std::vector<Span>& spans) {
  Picoseconds before(0);
  for (std::size_t i = 0; i < rank.actions.size(); ++i) {
    const Action& action = rank.actions[i];
    if (action.stream() == Stream::compute) return spans[i].start - before;
    if (action.issue == Issue::in_order && message_of(action) == nullptr) before += spans[i].length();
  }
  return Picoseconds(0);
}

/// Counts the ends from each rank's own begin.
void count_from_own_begins(Timeline& t, const Program& program, Picoseconds overhead) {
  t.micro_batches_end = t.reductions_end = Picoseconds(0);
  Picoseconds slowest_optimizer(0);
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    const RankProgram& rank = program.ranks[r];
    const Picoseconds begin = own_begin(rank, t.of_rank[r]);
    Picoseconds micro_batches = begin;
    Picoseconds reductions = begin;
    Picoseconds all = begin;
    for (std::size_t i = 0; i < rank.actions.size(); ++i) {
      const Action& action = rank.actions[i];
      const Picoseconds end = t.of_rank[r][i].end;
      all = std::max(all, end);
      if (action.issue == Issue::in_order && action.pass() != Pass::step) micro_batches = std::max(micro_batches, end);
      if (!std::holds_alternative<OptimizerStep>(action.what) && !std::holds_alternative<HostCopy>(action.what))
        reductions = std::max(reductions, end);
    }
    t.micro_batches_end = std::max(t.micro_batches_end, micro_batches - begin);
    t.reductions_end = std::max(t.reductions_end, reductions - begin);
    slowest_optimizer = std::max(slowest_optimizer, all - reductions);
  }
  t.step = t.reductions_end + slowest_optimizer + overhead;
}

bool shares_links(const ActionTimes& times) {
  std::vector<std::int32_t> links;
  for (const StreamLinks& rank : times.links)
    for (const std::int32_t link : rank)
      if (link >= 0) links.push_back(link);
  std::sort(links.begin(), links.end());
  return std::adjacent_find(links.begin(), links.end()) != links.end();
}

Timeline simulated_once(const Program& program, const ActionTimes& times, const TimelineOptions& options) {
  if (program.overlapped_actions > 0 || options.sends == Sends::blocking || shares_links(times))
    return EventSimulation(program, times, options).run();
  Clock clock(program, times, options);
  const auto stalled = walk_program(
      program, [&](std::int32_t rank, std::int32_t index) { clock.visit(rank, index); }, [&] { clock.at_barrier(); });
  check(!stalled, "a program is dry-run before it is simulated");
  return clock.finish();
}

}  // namespace

void wait_for_links(Timeline& t, const ActionTimes& times, Picoseconds left_out) {
  const Picoseconds later = std::max(Picoseconds(0), times.busiest_link - t.micro_batches_end - left_out);
  for (Picoseconds* end : {&t.micro_batches_end, &t.reductions_end, &t.step, &t.end}) *end += later;
}

Picoseconds alone(const Action& action, Picoseconds time, double slowdown) {
  if (slowdown == 1.0 || action.stream() != Stream::compute) return time;
  return Picoseconds(std::llround(static_cast<double>(time.value()) * slowdown));
}

Timeline timeline(const Program& program, const ActionTimes& times, const TimelineOptions& options) {
  Timeline result = simulated_once(program, times, options);
  result.end = result.step;
  if (times.steps_early && !result.stall) count_from_own_begins(result, program, times.overhead);
  return result;
}

}  // namespace plumbline
