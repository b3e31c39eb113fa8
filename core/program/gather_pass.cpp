#include <algorithm>

#include "core/program/action_kinds.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

bool uses_parameters(const Action& action) {
  const Pass pass = action.pass();
  return action.segment() >= 0 && (pass == Pass::forward || pass == Pass::backward);
}

/// Where the run of actions of a segment, or of a unit of several, begins, and what its parameters take to gather.
struct Run {
  std::size_t first = 0;
  Bytes unit{0};  ///< one block's
  Bytes rest{0};
  UnitRun units;
};

/// Over which a pass gathers the parameters of a segment.
Axis gather_axis(const RankContext& context, const Action& at) {
  const bool is_secondary = at.pass() == Pass::backward && context.sizes().secondary_shards > Bytes(0);
  return is_secondary ? Axis::secondary_shard : Axis::shard;
}

bool same_pass(const Action& a, const Action& b) { return group_of(a) == group_of(b); }

/// The runs that gather: all of ZeRO-3's; else those of each chunk's first forward.
std::vector<Run> gathering_runs(const RankContext& context, const Actions& actions) {
  std::vector<std::int32_t> first_micro_batch(context.sizes().chunks.size(), -1);
  std::vector<bool> is_over(first_micro_batch.size(), false);  // whether a chunk's second forward was seen
  std::size_t left = is_over.size();
  const bool each_pass = context.input.zero_stage >= 3;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    if (!uses_parameters(action) || !begins_segment(actions, i)) continue;
    const UnitRun units = context.units.of_segment(action.pass(), action.chunk, action.segment());
    if (!runs.empty() && units.first == runs.back().units.first && same_pass(action, actions[runs.back().first]))
      continue;  // the unit goes on
    const SegmentSizes& segment = context.unit_of(action);
    const bool is_secondary = gather_axis(context, action) == Axis::secondary_shard;
    const Bytes again = action.pass() == Pass::backward ? segment.regather : Bytes(0);
    const Bytes sharded = (is_secondary ? segment.gather_backward : segment.gather) + again;
    const Bytes bytes = each_pass ? sharded : segment.update;
    if (!each_pass) {
      std::int32_t& first = first_micro_batch[static_cast<std::size_t>(action.chunk)];
      const bool is_forward = action.pass() == Pass::forward;
      if (first < 0 && is_forward) first = action.micro_batch;
      if (is_forward && action.micro_batch != first && !is_over[static_cast<std::size_t>(action.chunk)]) {
        is_over[static_cast<std::size_t>(action.chunk)] = true;
        if (--left == 0) break;
      }
      if (bytes.value() == 0 || !is_forward || action.micro_batch != first) continue;
    }
    const Bytes unit = bytes / std::max<std::int64_t>(1, segment.units);
    runs.push_back({i, unit, bytes - unit, units});
  }
  return runs;
}

/// Walks a rank's list and puts gathers and releases into it.
class Gathers {
 public:
  Gathers(const RankContext& context, const Actions& before)
      : context_(context),
        before_(before),
        runs_(gathering_runs(context, before)),
        each_pass_(context.input.zero_stage >= 3),
        prefetches_(!each_pass_ || context.input.prefetch == ParameterPrefetch::on) {}

  Actions run() {
    actions_.reserve(before_.size() + (each_pass_ ? 3 : 2) * runs_.size() + 1);
    if (!each_pass_) return run_once();
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const bool begins = next_ < runs_.size() && runs_[next_].first == i;
      if (begins && !prefetches_) push_segment(runs_[next_], Issue::in_order);
      if (begins && prefetches_ && !follows(next_)) push_unit(next_, Issue::in_order);
      actions_.push_back(before_[i]);
      if (begins) push_overlapped();
      if (uses_parameters(before_[i]) && ends_segment(before_, i) && ends_pass(before_[i]))
        actions_.push_back(beside(before_[i], ParameterRelease{direction_of(before_[i]), before_[i].segment()}));
    }
    return std::move(actions_);
  }

 private:
  /// What was updated, from the step's begin, whatever the first pass waits for.
  Actions run_once() {
    if (context_.input.updates == UpdateGathers::in_order) return run_first();
    push_unit(0, Issue::after_last);
    std::size_t copied = 0;
    while (next_ < runs_.size()) {
      copy_until(actions_, before_, copied, runs_[next_].first + 1);
      push_overlapped();
    }
    copy_until(actions_, before_, copied, before_.size());
    return std::move(actions_);
  }
  Actions run_first() {
    for (const Run& run : runs_) push_segment(run, Issue::after_last);
    actions_.insert(actions_.end(), before_.begin(), before_.end());
    return std::move(actions_);
  }
  /// Whether a segment is the last one of its pass.
  [[nodiscard]] bool ends_pass(const Action& action) const {
    const auto segments = context_.sizes().chunks[static_cast<std::size_t>(action.chunk)].segments.size();
    if (is_replay(action)) return false;  // its backward follows, or that of a segment behind it
    return action.segment() == (action.pass() == Pass::forward ? static_cast<std::int32_t>(segments) - 1 : 0);
  }
  /// Whether a run belongs to the same pass as the run before it, which then hides its gather unless prefetch is off.
  [[nodiscard]] bool follows(std::size_t run) const {
    if (run == 0 || run >= runs_.size()) return false;
    return !each_pass_ || same_pass(before_[runs_[run].first], before_[runs_[run - 1].first]);
  }
  [[nodiscard]] std::int32_t chunk_of(std::size_t run) const { return before_[runs_[run].first].chunk; }
  void push_overlapped() {
    if (!each_pass_ && context_.input.updates == UpdateGathers::by_chunk) return push_chunk();
    const std::size_t run = next_++;
    if (!prefetches_) return;
    push_rest(run);
    if (follows(next_)) push_unit(next_, Issue::with_last);
  }
  /// The first chunk unit by unit, as its own forward takes them; each other one alongside the first forward before it.
  void push_chunk() {
    const std::size_t run = next_++;
    const std::int32_t chunk = chunk_of(run);
    if (chunk == chunk_of(0)) {
      push_rest(run);
      if (next_ < runs_.size() && chunk_of(next_) == chunk) return push_unit(next_, Issue::with_last);
    } else if (chunk_of(run - 1) == chunk) {
      return;
    }
    std::size_t later = next_;
    while (later < runs_.size() && chunk_of(later) == chunk) ++later;
    for (const std::size_t first = later; later < runs_.size() && chunk_of(later) == chunk_of(first); ++later)
      push_segment(runs_[later], Issue::with_last);
  }
  void push_rest(std::size_t run) {
    const UnitRun& units = runs_[run].units;
    if (runs_[run].rest.value() > 0)
      push(runs_[run], runs_[run].rest, {units.first + 1, std::max(0, units.count - 1)}, Issue::with_last);
  }
  void push_segment(const Run& run, Issue issue) {
    if (const Bytes bytes = run.unit + run.rest; bytes.value() > 0) push(run, bytes, run.units, issue);
  }
  void push_unit(std::size_t run, Issue issue) {
    if (run >= runs_.size()) return;
    const UnitRun& units = runs_[run].units;
    push(runs_[run], runs_[run].unit, {units.first, std::min(1, units.count)}, issue);
  }
  void push(const Run& run, Bytes bytes, UnitRun units, Issue issue) {
    const Action& at = before_[run.first];
    ParameterGather gather{.direction = direction_of(at),
                           .axis = gather_axis(context_, at),
                           .segment = at.segment(),
                           .units = units,
                           .bytes = bytes};
    if (each_pass_) gather.slot = slot_;
    if (each_pass_ && prefetches_ && units.count % 2 == 1) slot_ = other(slot_);
    actions_.push_back(beside(at, gather, issue));
  }

  const RankContext& context_;
  const Actions& before_;
  std::vector<Run> runs_;
  bool each_pass_;
  bool prefetches_;
  std::size_t next_ = 0;             ///< run that has not begun
  UnitSlot slot_ = UnitSlot::first;  ///< that the next unit takes
  Actions actions_;
};

}  // namespace

Actions add_gathers(const RankContext& context, const Actions& before) { return Gathers(context, before).run(); }

}  // namespace plumbline::passes
