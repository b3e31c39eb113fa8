#include <algorithm>

#include "core/program/action_kinds.h"
#include "core/simulate/event_simulation.h"

// A rank whose queues are empty does one thing after another at its own pace: nothing that other ranks do changes when
// what it has begun ends. So it need not wait until its events are the earliest. It stops before something that it
// queues, at a barrier, and where it is not known when a message comes.

namespace plumbline {

bool EventSimulation::may_run_ahead(std::size_t rank) const {
  const RankState& state = ranks_[rank];
  if (sends_ == Sends::blocking || state.is_busy || state.waiting_queues != 0) return false;
  const std::int32_t link = link_of(rank, Stream::pipeline);
  if (link >= 0 &&
      (on_link_[static_cast<std::size_t>(link)] > 0 || link_ranks_[static_cast<std::size_t>(link)].size() > 1))
    return false;
  return std::none_of(state.active.begin(), state.active.end(),
                      [](const Active& a) { return a.place == Place::queue; });
}

std::optional<std::int64_t> EventSimulation::ready(std::size_t rank, const Action& a, std::int64_t now) const {
  std::int64_t at = now;
  const std::vector<Span>& row = result_.of_rank[rank];
  for (const std::int32_t need : a.needs) {
    if (need < 0) continue;
    const std::int64_t end = row[static_cast<std::size_t>(need)].end.value();
    if (end < 0) return std::nullopt;
    at = std::max(at, end);
  }
  const StageMessage* received = received_by(a);
  if (received == nullptr) return at;
  const std::int64_t end = end_of(result_, received->peer, received->peer_action);
  if (end < 0) return std::nullopt;
  return std::max(at, end);
}

/// It ends as it began: alone.
void EventSimulation::arrive(std::size_t rank, const Sent& sent) {
  record(rank, sent.index, sent.end);
  deliver(rank, sent.index, sent.end);
}

/// What the rank does next may share the link with it.
void EventSimulation::stay_on_link(std::size_t rank, const Sent& sent) {
  Active active;
  active.action = static_cast<std::int32_t>(sent.index);
  active.place = Place::message;
  active.stream = Stream::pipeline;
  active.link = link_of(rank, Stream::pipeline);
  active.work = sent.end - sent.start;
  active.since = sent.start;
  active.factor = unslowed;
  active.end = sent.end;
  occupy_link(active.link, 1);
  ranks_[rank].sends_with(action(rank, sent.index)).is_busy = true;
  ranks_[rank].active.push_back(active);
}

void EventSimulation::run_ahead(std::size_t rank, std::int64_t now) {
  RankState& state = ranks_[rank];
  const std::vector<Action>& actions = program_.ranks[rank].actions;
  std::size_t& next = positions_.next[rank];
  std::optional<Sent> on_link;
  std::int64_t at = now;
  for (; next < actions.size(); ++next) {
    const Action& a = actions[next];
    if (a.issue != Issue::in_order || (a.barrier() > passed_ && !times_.steps_early)) break;
    if (receives_in_transit(a)) continue;
    if (next + 1 < actions.size() && actions[next + 1].issue != Issue::in_order) break;
    const std::optional<std::int64_t> start = ready(rank, a, at);
    state.waits = !start;
    if (!start) break;
    at = *start;
    if (on_link && on_link->end <= at) {
      arrive(rank, *on_link);
      on_link.reset();
    }
    if (on_link && link_of(rank, a) >= 0) break;
    const std::int64_t end =
        at + std::max<std::int64_t>(0, alone(a, times_.of_rank[rank][next], slowdown_[rank]).value());
    result_.of_rank[rank][next].start = Picoseconds(at);
    if (sent_by(a) == nullptr) {
      record(rank, next, end);
      at = end;
    } else if (link_of(rank, a) >= 0 && end > at) {
      on_link = {next, at, end};
    } else {
      arrive(rank, {next, at, end});
    }
  }
  if (on_link) on_link->end <= at ? arrive(rank, *on_link) : stay_on_link(rank, *on_link);
  state.ahead = at;
}

}  // namespace plumbline
