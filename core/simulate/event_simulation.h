#pragma once
/// \file event_simulation.h: a program simulated event by event, where actions that run at the same time slow each
/// other.
///
/// Answers the timeline of timeline.h, which says the model. Each rank issues its list in order: queued actions go to
/// their queue, the others wait for the rank. Whenever something starts or ends, the rates of what shares a rank or a
/// link with it are set anew. One event per start or end, O(log ranks) each. Where nothing runs alongside a rank's list
/// the rank goes ahead of the others (run_ahead.cpp): its ends follow from earlier ends, and messages say when they are
/// there before that time has come.
/// Source, limits and checks: see timeline.h.

#include "core/program/program_walk.h"
#include "core/simulate/earliest.h"
#include "core/simulate/timeline.h"

namespace plumbline {

/// When an action ends, in picoseconds; -1: not known yet.
[[nodiscard]] inline std::int64_t end_of(const Timeline& timeline, std::int32_t rank, std::int32_t index) {
  return timeline.of_rank[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)].end.value();
}

class EventSimulation {
 public:
  EventSimulation(const Program& program, const ActionTimes& times, const TimelineOptions& options);
  [[nodiscard]] Timeline run();

  /// Time over work of what runs alone. Factors are multiples of 2^-27: a slowdown is met to a part in 10^8, and
  /// products of a remainder with the factor of 256 flows on one link fit 64 bits.
  static constexpr std::int64_t unslowed = std::int64_t{1} << 27;

 private:
  /// Where an action runs: on its rank, in a queue of it, or on its way to another rank.
  enum class Place : std::uint8_t { rank, queue, message };
  struct Active {
    std::int32_t action = 0;
    Place place = Place::rank;
    Stream stream = Stream::compute;
    bool is_slowed = false;  ///< by what runs alongside it, and slows that
    std::int32_t link = -1;
    std::int64_t work = 0;  ///< picoseconds left at `since`, alone
    std::int64_t since = 0;
    std::int64_t factor = 0;  ///< time over work
    std::int64_t end = 0;     ///< at this factor
  };
  struct Queue {
    std::vector<std::int32_t> actions;
    std::size_t next = 0;
    bool is_busy = false;
  };
  struct RankState {
    std::vector<Active> active;
    std::array<Queue, stream_count> queues;
    std::array<Queue, 2> sends;        ///< by direction: messages over a link to one rank follow each other
    std::uint32_t waiting_queues = 0;  ///< a bit for each stream with actions that have not started
    std::int32_t transfers = 0;        ///< posted, not there: they occupy the rank
    bool is_busy = false;
    bool waits = false;  ///< for an action whose end is not known yet
    std::int64_t woken = Earliest::never;
    std::int64_t ahead = 0;  ///< it issues nothing more before this time

    [[nodiscard]] Queue& sends_with(const Action& message) {
      return sends[static_cast<std::size_t>(std::get<StageMessage>(message.what).direction)];
    }
  };
  /// A message of a rank that runs ahead, over a link of its own, which something may share before it is there.
  struct Sent {
    std::size_t index = 0;
    std::int64_t start = 0;
    std::int64_t end = 0;
  };

  [[nodiscard]] const Action& action(std::size_t rank, std::size_t index) const {
    return program_.ranks[rank].actions[index];
  }
  [[nodiscard]] bool has_ended(std::size_t rank, std::int64_t end, std::int64_t now);
  [[nodiscard]] bool is_ready(std::size_t rank, const Action& action, std::int64_t now);
  void run_rank(std::size_t rank, std::int64_t now);
  void end_due(std::size_t rank, std::int64_t now);
  void issue(std::size_t rank, std::int64_t now);
  [[nodiscard]] bool may_run_ahead(std::size_t rank) const;
  [[nodiscard]] std::int32_t link_of(std::size_t rank, Stream stream) const {
    return times_.links.empty() ? -1 : times_.links[rank][static_cast<std::size_t>(stream)];
  }
  /// Messages inside a node take no network card.
  [[nodiscard]] std::int32_t link_of(std::size_t rank, const Action& action) const;
  void run_ahead(std::size_t rank, std::int64_t now);
  /// When an action may start at the earliest; nothing while that is not known.
  [[nodiscard]] std::optional<std::int64_t> ready(std::size_t rank, const Action& action, std::int64_t now) const;
  void arrive(std::size_t rank, const Sent& sent);
  void stay_on_link(std::size_t rank, const Sent& sent);
  [[nodiscard]] bool issue_next(std::size_t rank, std::int64_t now);
  [[nodiscard]] bool start_queued(std::size_t rank, std::int64_t now);
  void post_transfers(std::size_t rank, std::int64_t now);
  void start(std::size_t rank, std::size_t index, Place place, Picoseconds time, std::int64_t now);
  void end(std::size_t rank, const Active& active, std::int64_t now);
  void start_next_send(std::size_t rank, Queue& queue, std::int64_t now);
  void deliver(std::size_t rank, std::size_t index, std::int64_t now);
  void record(std::size_t rank, std::size_t index, std::int64_t now);
  void occupy_link(std::int32_t link, std::int32_t change);
  void set_rates(std::size_t rank, std::int64_t now);
  void wake(std::size_t rank, std::int64_t time);

  const Program& program_;
  const ActionTimes& times_;
  Sends sends_;
  std::vector<double> slowdown_;
  std::int64_t overlap_factor_;
  WalkPositions positions_;
  Barrier passed_ = Barrier::none;
  std::vector<RankState> ranks_;
  std::vector<std::int32_t> on_link_;                 ///< how many actions are active, by link
  std::vector<std::vector<std::size_t>> link_ranks_;  ///< who may use it
  std::vector<std::int32_t> changed_links_;
  Earliest events_;
  Timeline result_;
  std::int64_t latest_ = 0;
};

}  // namespace plumbline
