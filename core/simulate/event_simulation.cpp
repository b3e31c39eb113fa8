#include "core/simulate/event_simulation.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/cost/pipeline_time.h"
#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

constexpr std::int64_t unslowed = EventSimulation::unslowed;

constexpr std::int32_t most_flows = 256;

/// Time that work takes at a factor, rounded up; and work done in a time, rounded down. Split so that hours fit.
std::int64_t time_of(std::int64_t work, std::int64_t factor) {
  return work / unslowed * factor + (work % unslowed * factor + unslowed - 1) / unslowed;
}
std::int64_t work_in(std::int64_t time, std::int64_t factor) {
  return time / factor * unslowed + time % factor * unslowed / factor;
}

/// Kernels take the device's cores and memory from each other; copy engines and single messages hardly do.
bool occupies_device(Stream stream) { return stream != Stream::copy && stream != Stream::pipeline; }

}  // namespace

EventSimulation::EventSimulation(const Program& program, const ActionTimes& times, const TimelineOptions& options)
    : program_(program),
      times_(times),
      sends_(options.sends),
      slowdown_(options.slowdown),
      overlap_factor_(unslowed + std::llround(times.overlap_slowdown * static_cast<double>(unslowed))),
      positions_{std::vector<std::size_t>(program.ranks.size(), 0), {}},
      ranks_(program.ranks.size()),
      events_(program.ranks.size()) {
  slowdown_.resize(program.ranks.size(), 1.0);
  const Span unknown{Picoseconds(-1), Picoseconds(-1)};
  for (const RankProgram& rank : program.ranks) result_.of_rank.emplace_back(rank.actions.size(), unknown);
  for (std::size_t rank = 0; rank < times.links.size(); ++rank)
    for (const std::int32_t link : times.links[rank]) {
      if (link < 0) continue;
      const auto l = static_cast<std::size_t>(link);
      if (link_ranks_.size() <= l) link_ranks_.resize(l + 1);
      if (link_ranks_[l].empty() || link_ranks_[l].back() != rank) link_ranks_[l].push_back(rank);
    }
  on_link_.resize(link_ranks_.size(), 0);
}

std::int32_t EventSimulation::link_of(std::size_t rank, const Action& a) const {
  const StageMessage* message = message_of(a);
  if (message != nullptr && !times_.leaves_node.empty() &&
      times_.leaves_node[link_between(static_cast<std::int32_t>(rank), message->peer)] == 0)
    return -1;
  return link_of(rank, a.stream());
}

Timeline EventSimulation::run() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) wake(rank, 0);
  do {
    for (const std::int32_t rank : positions_.woken) wake(static_cast<std::size_t>(rank), latest_);
    positions_.woken.clear();
    while (events_.time() != Earliest::never) run_rank(events_.index(), events_.time());
  } while (pass_barrier(program_, positions_, passed_));
  result_.stall = stall(program_, positions_);
  check(!result_.stall || sends_ == Sends::blocking, "a program is dry-run before it is simulated");
  result_.step = Picoseconds(latest_) + times_.overhead;
  return std::move(result_);
}

void EventSimulation::run_rank(std::size_t rank, std::int64_t now) {
  end_due(rank, now);
  issue(rank, now);
  set_rates(rank, now);
  for (std::size_t i = 0; i < changed_links_.size(); ++i)
    for (const std::size_t other : link_ranks_[static_cast<std::size_t>(changed_links_[i])])
      if (other != rank) set_rates(other, now);
  changed_links_.clear();
}

void EventSimulation::end_due(std::size_t rank, std::int64_t now) {
  std::vector<Active>& active = ranks_[rank].active;
  for (std::size_t i = 0; i < active.size();) {
    if (active[i].end > now) {
      ++i;
      continue;
    }
    const Active ended = active[i];
    active[i] = active.back();
    active.pop_back();
    end(rank, ended, now);
  }
}

void EventSimulation::end(std::size_t rank, const Active& active, std::int64_t now) {
  RankState& state = ranks_[rank];
  const auto index = static_cast<std::size_t>(active.action);
  if (active.link >= 0) occupy_link(active.link, -1);
  if (active.place == Place::rank) state.is_busy = false;
  if (active.place == Place::queue) state.queues[static_cast<std::size_t>(active.stream)].is_busy = false;
  record(rank, index, now);
  if (active.place == Place::message) deliver(rank, index, now);
  if (active.place == Place::message && active.link >= 0)
    start_next_send(rank, ranks_[rank].sends_with(action(rank, index)), now);
}

void EventSimulation::start_next_send(std::size_t rank, Queue& queue, std::int64_t now) {
  queue.is_busy = false;
  if (queue.next == queue.actions.size()) return;
  const auto index = static_cast<std::size_t>(queue.actions[queue.next]);
  if (++queue.next == queue.actions.size()) {
    queue.actions.clear();
    queue.next = 0;
  }
  start(rank, index, Place::message, alone(action(rank, index), times_.of_rank[rank][index], slowdown_[rank]), now);
}

/// The receiver has a message that this rank has sent.
void EventSimulation::deliver(std::size_t rank, std::size_t index, std::int64_t now) {
  const auto& send = std::get<StageMessage>(action(rank, index).what);
  const auto peer = static_cast<std::size_t>(send.peer);
  const auto other = static_cast<std::size_t>(send.peer_action);
  if (sends_ == Sends::blocking) {
    --ranks_[rank].transfers;
    --ranks_[peer].transfers;
    record(peer, other, now);
  } else if (send.handover == Handover::in_transit) {
    result_.of_rank[peer][other].start = Picoseconds(now);
    record(peer, other, now);
  }
  if (sends_ == Sends::blocking || ranks_[peer].waits) wake(peer, now);
}

void EventSimulation::record(std::size_t rank, std::size_t index, std::int64_t now) {
  const Action& ended = action(rank, index);
  const Picoseconds at(now);
  result_.of_rank[rank][index].end = at;
  latest_ = std::max(latest_, now);
  const bool counts = ended.issue == Issue::in_order;
  if (counts && ended.pass() != Pass::step) result_.micro_batches_end = std::max(result_.micro_batches_end, at);
  if (!std::holds_alternative<OptimizerStep>(ended.what) && !std::holds_alternative<HostCopy>(ended.what))
    result_.reductions_end = std::max(result_.reductions_end, at);
}

/// Whether the end is there; if not, the rank is woken when it is.
bool EventSimulation::has_ended(std::size_t rank, std::int64_t end, std::int64_t now) {
  RankState& state = ranks_[rank];
  if (end < 0) state.waits = true;
  if (end > now) state.woken = std::min(state.woken, end);
  return end >= 0 && end <= now;
}

bool EventSimulation::is_ready(std::size_t rank, const Action& action, std::int64_t now) {
  return std::all_of(action.needs.begin(), action.needs.end(), [&](std::int32_t need) {
    return need < 0 || has_ended(rank, end_of(result_, static_cast<std::int32_t>(rank), need), now);
  });
}

void EventSimulation::issue(std::size_t rank, std::int64_t now) {
  RankState& state = ranks_[rank];
  if (now >= state.ahead) {
    state.waits = false;
    state.woken = Earliest::never;
    if (may_run_ahead(rank)) run_ahead(rank, now);
  }
  if (now < state.ahead) {
    if (!state.waits) state.woken = std::min(state.woken, state.ahead);
    return;
  }
  while (start_queued(rank, now) || issue_next(rank, now)) {
  }
}

/// Whether anything started.
bool EventSimulation::start_queued(std::size_t rank, std::int64_t now) {
  RankState& state = ranks_[rank];
  if (state.waiting_queues == 0) return false;
  for (std::size_t stream = 0; stream < stream_count; ++stream) {
    if ((state.waiting_queues >> stream & 1U) == 0) continue;
    Queue& queue = state.queues[stream];
    if (queue.is_busy) continue;
    const auto index = static_cast<std::size_t>(queue.actions[queue.next]);
    if (!is_ready(rank, action(rank, index), now)) continue;
    if (++queue.next == queue.actions.size()) {
      state.waiting_queues &= ~(1U << stream);
      queue.actions.clear();
      queue.next = 0;
    }
    start(rank, index, Place::queue, times_.of_rank[rank][index], now);
    return true;
  }
  return false;
}

/// Whether the rank's next action could be issued.
bool EventSimulation::issue_next(std::size_t rank, std::int64_t now) {
  RankState& state = ranks_[rank];
  std::size_t& next = positions_.next[rank];
  if (next == program_.ranks[rank].actions.size()) return false;
  const Action& a = action(rank, next);
  if (a.issue != Issue::in_order) {
    const Stream stream = a.stream();
    state.queues[static_cast<std::size_t>(stream)].actions.push_back(static_cast<std::int32_t>(next++));
    state.waiting_queues |= 1U << static_cast<unsigned>(stream);
    return true;
  }
  if (state.is_busy || state.transfers > 0) return false;
  const StageMessage* message = message_of(a);
  if (message != nullptr && sends_ == Sends::blocking) {
    if (a.needs[0] >= 0 && !has_ended(rank, end_of(result_, static_cast<std::int32_t>(rank), a.needs[0]), now))
      return false;
    post_transfers(rank, now);
    return true;
  }
  if (receives_in_transit(a)) {
    ++next;
    return true;
  }
  if ((a.barrier() > passed_ && !times_.steps_early) || !is_ready(rank, a, now)) return false;
  const bool receives = message != nullptr && message->end == MessageEnd::receive;
  if (receives && !has_ended(rank, end_of(result_, message->peer, message->peer_action), now)) return false;
  const std::size_t index = next++;
  start(rank, index, message != nullptr && !receives ? Place::message : Place::rank,
        alone(a, times_.of_rank[rank][index], slowdown_[rank]), now);
  return true;
}

/// All transfers up to the next action of another kind; each starts when its other end is posted too.
void EventSimulation::post_transfers(std::size_t rank, std::int64_t now) {
  const std::vector<Action>& actions = program_.ranks[rank].actions;
  std::size_t& next = positions_.next[rank];
  for (; next < actions.size(); ++next) {
    const StageMessage* message = message_of(actions[next]);
    if (message == nullptr) break;
    const auto peer = static_cast<std::size_t>(message->peer);
    const auto other = static_cast<std::size_t>(message->peer_action);
    const bool sends = message->end == MessageEnd::send;
    result_.of_rank[rank][next].start = Picoseconds(now);
    ++ranks_[rank].transfers;
    if (result_.of_rank[peer][other].start.value() < 0) continue;
    const std::size_t sender = sends ? rank : peer;
    const std::size_t sent = sends ? next : other;
    const Picoseconds posted = result_.of_rank[sender][sent].start;
    start(sender, sent, Place::message, std::max(times_.of_rank[rank][next], times_.of_rank[peer][other]), now);
    result_.of_rank[sender][sent].start = posted;
    if (sender != rank) wake(sender, now);
  }
}

void EventSimulation::start(std::size_t rank, std::size_t index, Place place, Picoseconds time, std::int64_t now) {
  RankState& state = ranks_[rank];
  const Action& a = action(rank, index);
  result_.of_rank[rank][index].start = Picoseconds(now);
  Active active;
  active.action = static_cast<std::int32_t>(index);
  active.place = place;
  active.stream = a.stream();
  if (time <= Picoseconds(0)) return end(rank, active, now);
  active.is_slowed = occupies_device(active.stream);
  active.link = link_of(rank, a);
  if (active.link >= 0 && place == Place::message && sends_ == Sends::in_transit) {
    Queue& queue = ranks_[rank].sends_with(action(rank, index));
    if (queue.is_busy) return queue.actions.push_back(active.action);
    queue.is_busy = true;
  }
  if (active.link >= 0) occupy_link(active.link, 1);
  active.work = time.value();
  active.since = now;
  active.end = Earliest::never;
  if (place == Place::rank) state.is_busy = true;
  if (place == Place::queue) state.queues[static_cast<std::size_t>(active.stream)].is_busy = true;
  state.active.push_back(active);
}

void EventSimulation::occupy_link(std::int32_t link, std::int32_t change) {
  on_link_[static_cast<std::size_t>(link)] += change;
  changed_links_.push_back(link);
}

void EventSimulation::set_rates(std::size_t rank, std::int64_t now) {
  RankState& state = ranks_[rank];
  bool on_rank = false;
  bool in_queue = false;
  for (const Active& a : state.active) {
    on_rank = on_rank || (a.is_slowed && a.place == Place::rank);
    in_queue = in_queue || (a.is_slowed && a.place == Place::queue);
  }
  std::int64_t first = state.woken;
  for (Active& a : state.active) {
    std::int64_t factor = a.is_slowed && on_rank && in_queue ? overlap_factor_ : unslowed;
    if (a.link >= 0) factor *= std::min(most_flows, on_link_[static_cast<std::size_t>(a.link)]);
    if (factor != a.factor) {
      if (a.factor != 0) a.work = std::max<std::int64_t>(0, a.work - work_in(now - a.since, a.factor));
      a.since = now;
      a.factor = factor;
      a.end = now + time_of(a.work, factor);
    }
    first = std::min(first, a.end);
  }
  events_.set(rank, first);
}

void EventSimulation::wake(std::size_t rank, std::int64_t time) {
  const std::int64_t at = std::max(time, ranks_[rank].ahead);
  if (ranks_[rank].woken <= at) return;
  ranks_[rank].woken = at;
  if (at < events_.time(rank)) events_.set(rank, at);
}

}  // namespace plumbline
