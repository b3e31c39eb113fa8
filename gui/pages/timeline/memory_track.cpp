#include "gui/pages/timeline/memory_track.h"

#include <algorithm>

#include "gui/pages/timeline/executions.h"
#include "gui/pages/timeline/lanes.h"

namespace plumbline::gui {
namespace {

/// Walks the executions of a stage and keeps what is held after each change.
class Walk {
 public:
  explicit Walk(const RankProgram& rank) : rank_(rank) {
    MemorySample first;
    for (const Buffer& buffer : rank.buffers)
      if (buffer.lifetime == Lifetime::persistent) first.memory[buffer.memory_class] += buffer.bytes;
    samples_.push_back(first);
  }

  void visit(const Execution& execution) {
    const Action& action = rank_.actions[static_cast<std::size_t>(execution.action)];
    const bool is_in_order = action.issue == Issue::in_order;
    if (is_in_order) now_ = std::max(now_, execution.span.start);
    apply(execution, action, Access::allocate, Moment::begin);
    if (is_in_order) now_ = std::max(now_, execution.span.end);
    apply(execution, action, Access::release, Moment::end);
  }
  std::vector<MemorySample> finish() && { return std::move(samples_); }

 private:
  void apply(const Execution& execution, const Action& action, Access access, Moment moment) {
    MemorySample next{now_, execution.action, moment, execution.later, samples_.back().memory};
    bool has_changed = false;
    for (const BufferUse& use : uses_of(action, rank_)) {
      if (use.access != access) continue;
      const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(use.buffer)];
      next.memory[buffer.memory_class] += access == Access::allocate ? buffer.bytes : -1 * buffer.bytes;
      has_changed = true;
    }
    if (has_changed) samples_.push_back(next);
  }

  const RankProgram& rank_;
  Picoseconds now_{0};
  std::vector<MemorySample> samples_;
};

/// Micro-batches that were left out before an action of the short program.
std::int32_t left_out_before(const LeftOut& left_out, std::size_t stage, std::int32_t action) {
  return left_out.is_behind(stage, action) ? static_cast<std::int32_t>(left_out.micro_batches) : 0;
}

std::vector<bool> alive_after(const RankProgram& rank, std::int32_t last, Moment moment) {
  std::vector<bool> alive;
  for (const Buffer& buffer : rank.buffers) alive.push_back(buffer.lifetime == Lifetime::persistent);
  for (std::int32_t i = 0; i <= last; ++i)
    for (const BufferUse& use : uses_of(rank.actions[static_cast<std::size_t>(i)], rank)) {
      if (use.access == Access::allocate) alive[static_cast<std::size_t>(use.buffer)] = true;
      const bool is_released = use.access == Access::release && (i < last || moment == Moment::end);
      if (is_released) alive[static_cast<std::size_t>(use.buffer)] = false;
    }
  return alive;
}

}  // namespace

MemoryTrack memory_track(const SimulatedPlan& simulated, std::size_t stage) {
  Walk walk(simulated.program.ranks[stage]);
  const LeftOut& left_out = simulated.simulation.left_out;
  for_each_execution(simulated, stage, shows_all(simulated) ? left_out.repeats : 0,
                     [&](const Execution& execution) { walk.visit(execution); });
  MemoryTrack track{std::move(walk).finish(), 0};
  const std::int32_t peak = simulated.simulation.memory[stage].action;
  const auto found = std::find_if(track.samples.begin(), track.samples.end(), [&](const MemorySample& sample) {
    return sample.action == peak && (peak < 0 || sample.moment == Moment::begin);
  });
  if (found != track.samples.end()) track.peak = static_cast<std::size_t>(found - track.samples.begin());
  for (MemorySample& sample : track.samples)
    sample.later += sample.action < 0 ? 0 : left_out_before(left_out, stage, sample.action);
  return track;
}

std::size_t sample_at(const MemoryTrack& track, double time) {
  const auto after = std::partition_point(track.samples.begin(), track.samples.end(), [&](const MemorySample& sample) {
    return static_cast<double>(sample.at.value()) <= time;
  });
  return after == track.samples.begin() ? 0 : static_cast<std::size_t>(after - track.samples.begin()) - 1;
}

std::vector<Buffer> buffers_at(const SimulatedPlan& simulated, std::size_t stage, const MemorySample& sample) {
  const RankProgram& rank = simulated.program.ranks[stage];
  const std::vector<bool> alive = alive_after(rank, sample.action, sample.moment);
  std::vector<Buffer> result;
  for (std::size_t b = 0; b < alive.size(); ++b)
    if (alive[b]) result.push_back(rank.buffers[b]);
  for (Buffer& buffer : result)
    if (buffer.micro_batch >= 0) buffer.micro_batch += sample.later;
  std::stable_sort(result.begin(), result.end(), [](const Buffer& a, const Buffer& b) { return a.bytes > b.bytes; });
  return result;
}

}  // namespace plumbline::gui
