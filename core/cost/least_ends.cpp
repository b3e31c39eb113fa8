// Pipelines without their sweep: what every rank does one after another, and what it hands on in the end.
#include <algorithm>

#include "core/cost/pipeline_time.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

class LeastEnds {
 public:
  LeastEnds(Schedule schedule, const PipelineTimes& t, std::int64_t m, std::int64_t v)
      : schedule_(schedule), t_(t), m_(m), v_(v), work_(t.latency.size() + 1), ends_(work_.size()) {}

  std::vector<Picoseconds> ends() {
    Picoseconds arrival(0);
    for (std::size_t rank = 0; rank < work_.size(); ++rank) {
      const Picoseconds start = t_.start.empty() ? Picoseconds(0) : t_.start[rank];
      const Picoseconds begin = t_.from_own_begin ? start : std::max(start, arrival);
      add_work(rank, begin);
      // Rank r of every schedule has stage r of the network, whose first forward waits for that of the stage before.
      arrival = begin + t_.forward[rank] + once(rank).forward;
      if (rank < t_.latency.size()) arrival += t_.latency[rank];
    }
    if (!splits_backward(schedule_)) drain();
    return std::move(ends_);
  }

 private:
  [[nodiscard]] OnceTimes once(std::size_t stage) const { return t_.once.empty() ? OnceTimes{} : t_.once[stage]; }
  [[nodiscard]] Picoseconds backward(std::size_t stage) const {
    if (!splits_backward(schedule_) || t_.backward_input.empty() || t_.backward_weight.empty())
      return t_.backward[stage];
    const Picoseconds split = t_.backward_input[stage] + t_.backward_weight[stage];
    return splits_every_backward(schedule_) ? split : std::min(split, t_.backward[stage]);
  }

  [[nodiscard]] Picoseconds replay(std::size_t rank) const {
    return t_.replay.empty() ? Picoseconds(0) : t_.replay[rank];
  }

  /// What the rank waits out for each micro-batch of a stage: messages to chunks other than its first in a direction.
  [[nodiscard]] Picoseconds receipts(std::int32_t rank, std::int32_t stage) const {
    const auto ranks = static_cast<std::int32_t>(work_.size());
    const auto from = [&](std::int32_t maker) {
      return t_.hop(rank, rank_of_stage(placement(schedule_), ranks, maker));
    };
    Picoseconds time(0);
    if (stage >= ranks) time += from(stage - 1);
    if (stage < ranks * (static_cast<std::int32_t>(v_) - 1)) time += from(stage + 1);
    return time;
  }

  /// All passes of the rank's chunks and messages; and of the chunk whose last gradients are made first, all passes but
  /// its last backward, then the reductions of all.
  void add_work(std::size_t rank, Picoseconds begin) {
    Picoseconds work(0);
    Picoseconds reducing(0);
    Picoseconds first = Picoseconds::largest();
    for (std::int64_t chunk = 0; chunk < v_; ++chunk) {
      const std::int32_t index = stage_of(placement(schedule_), static_cast<std::int32_t>(work_.size()),
                                          static_cast<std::int32_t>(rank), static_cast<std::int32_t>(chunk));
      const auto stage = static_cast<std::size_t>(index);
      const OnceTimes once = this->once(stage);
      const Picoseconds before = m_ * t_.forward[stage] + once.forward + once.gathering + (m_ - 1) * backward(stage);
      work += before + backward(stage) + once.backward + once.scattering +
              m_ * receipts(static_cast<std::int32_t>(rank), index);
      first = std::min(first, before);
      reducing += once.reducing;
    }
    work_[rank] = begin + work + m_ * replay(rank);
    ends_[rank] = std::max(work_[rank], begin + first + reducing);
  }

  /// A rank's last action is the backward of its first chunk, which waits for that of the rank behind. It may have all
  /// of the rank's replay to do or none.
  void drain() {
    Picoseconds behind(0);
    for (std::size_t rank = work_.size(); rank-- > 0;) {
      const OnceTimes once = this->once(rank);
      const Picoseconds last = t_.backward[rank] + once.backward;
      if (rank < t_.latency.size()) behind += t_.latency[rank];
      const Picoseconds begin = std::max(behind, work_[rank] - last - once.scattering - replay(rank));
      behind = std::max(behind + last, work_[rank] - once.scattering);
      ends_[rank] = std::max({ends_[rank], behind + once.scattering, begin + once.reducing});
    }
  }

  Schedule schedule_;
  const PipelineTimes& t_;
  std::int64_t m_;
  std::int64_t v_;
  std::vector<Picoseconds> work_;
  std::vector<Picoseconds> ends_;
};

}  // namespace

std::vector<Picoseconds> least_ends(Schedule schedule, const PipelineTimes& times, std::int64_t micro_batches,
                                    std::int64_t virtual_stages) {
  std::vector<Picoseconds> ends = LeastEnds(schedule, times, micro_batches, virtual_stages).ends();
  wait_for_links(ends, times.link_loads);
  return ends;
}

}  // namespace plumbline
