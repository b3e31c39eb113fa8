#include <algorithm>
#include <cmath>

#include "core/program/action_kinds.h"
#include "core/program/gradient_buckets.h"
#include "core/program/segment_runs.h"

namespace plumbline::passes {
namespace {

/// A segment's run of actions that makes weight gradients.
struct Run {
  std::size_t first = 0;
  std::size_t overlapped = 0;  ///< what is reduced alongside it is issued behind this one
  std::size_t last = 0;
  bool begins_group = false;
  bool ends_group = false;
  bool is_last = false;  ///< of its chunk in the step
};

/// The first action of the passes that make the last gradients of each chunk.
std::size_t begin_of_last(const RankContext& context, const Actions& actions) {
  std::vector<std::int32_t> last_micro_batch(context.sizes().chunks.size(), -1);
  std::size_t begin = actions.size();
  for (std::size_t i = actions.size(); i-- > 0;) {
    if (weight_gradients_of(actions[i]) == nullptr) continue;
    std::int32_t& last = last_micro_batch[static_cast<std::size_t>(actions[i].chunk)];
    if (last < 0) last = actions[i].micro_batch;
    if (last == actions[i].micro_batch) begin = i;
  }
  // With the recompute before it.
  for (std::size_t i = begin; begin < actions.size() && i-- > 0;) {
    if (actions[i].issue != Issue::in_order) continue;
    if (segment_of(actions[i]) != segment_of(actions[begin])) break;
    begin = i;
  }
  return begin;
}

/// From the action `first` on.
std::vector<Run> gradient_runs(const RankContext& context, const Actions& actions, std::size_t first) {
  std::vector<Run> runs;
  for (const SegmentRun& run : segment_runs(actions, first)) {
    const auto begin = actions.begin() + static_cast<std::ptrdiff_t>(run.compute);
    const auto end = actions.begin() + static_cast<std::ptrdiff_t>(run.last) + 1;
    if (std::any_of(begin, end, [](const Action& a) { return weight_gradients_of(a) != nullptr; }))
      runs.push_back({run.compute, run.overlapped, run.last});
  }
  const auto same_group = [&](std::size_t a, std::size_t b) {
    return group_of(actions[runs[a].first]) == group_of(actions[runs[b].first]);
  };
  std::vector<std::int32_t> last_micro_batch(context.sizes().chunks.size(), -1);
  for (const Run& run : runs)
    last_micro_batch[static_cast<std::size_t>(actions[run.first].chunk)] = actions[run.first].micro_batch;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Action& action = actions[runs[i].first];
    runs[i].begins_group = i == 0 || !same_group(i - 1, i);
    runs[i].ends_group = i + 1 == runs.size() || !same_group(i, i + 1);
    runs[i].is_last = last_micro_batch[static_cast<std::size_t>(action.chunk)] == action.micro_batch;
  }
  return runs;
}

/// Of gradients that a pass of one micro-batch has made.
GradientReduction scatter_of(const Action& at, Bytes bytes, UnitRun units) {
  const GradientsOf of = at.pass() == Pass::weight ? GradientsOf::weight : GradientsOf::backward;
  return {of, Axis::shard, at.segment(), units, bytes};
}

TiedSum tied_sum(const RankContext& context) {
  return {context.rank == 0 ? context.input.schedule.shape.pipeline_stages - 1 : 0, context.sizes().tied};
}

/// Walks a rank's list and puts reductions into it.
class Reductions {
 public:
  Reductions(const RankContext& context, const Actions& before)
      : context_(context),
        sizes_(context.sizes()),
        before_(before),
        runs_(gradient_runs(context, before, is_sharded() ? 0 : begin_of_last(context, before))),
        axis_(context.input.zero_stage == 0 ? Axis::gradient : Axis::shard),
        once_(total(&SegmentSizes::reduction), bucket(sizes_.bucket_share, sizes_.reduction)),
        units_once_(context.units.size()) {
    for (const Run& run : runs_)
      if (run.is_last) context.units.append(units_made(before_[run.first]));
  }

  Actions run() {
    if (!is_sharded()) return run_once();
    if (waits_for_last()) return run_by_chunk();
    actions_.reserve(2 * before_.size() + 3);
    std::size_t next = 0;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      push(before_[i], slot_);
      if (weight_gradients_of(before_[i]) != nullptr && context_.segment(before_[i]).units > 0) slot_ = other(slot_);
      if (next == runs_.size()) continue;
      if (i == runs_[next].overlapped) begin(runs_[next]);
      if (i == runs_[next].last) end(runs_[next++]);
    }
    push_tail();
    return std::move(actions_);
  }

 private:
  [[nodiscard]] bool is_sharded() const { return context_.input.zero_stage >= 2; }
  [[nodiscard]] bool waits_for_last() const { return context_.input.scatters == GradientScatters::last_backward; }
  /// Of what is reduced once per step alone.
  Actions run_once() {
    actions_.reserve(before_.size() + 2 * runs_.size() + 4);
    std::size_t copied = 0;
    for (const Run& run : runs_) {
      if (!run.is_last) continue;
      copy_until(actions_, before_, copied, run.overlapped + 1);
      begin(run);
      copy_until(actions_, before_, copied, run.last + 1);
      end(run);
    }
    copy_until(actions_, before_, copied, before_.size());
    push_tail();
    return std::move(actions_);
  }
  /// Of gradients that wait for their chunk's last backward, behind the message that it sends.
  Actions run_by_chunk() {
    actions_.reserve(before_.size() + 2 * sizes_.chunks.size() + 3);
    std::size_t next = 0;
    for (const Run& run : runs_) {
      for (; next < before_.size() && (next <= run.last || is_sent_by(before_[run.first], before_[next])); ++next)
        push(before_[next], UnitSlot::of_chunk);
      if (run.is_last) reduce_chunk(run);
    }
    copy_until(actions_, before_, next, before_.size());
    push_tail();
    return std::move(actions_);
  }
  [[nodiscard]] static bool is_sent_by(const Action& backward, const Action& a) {
    return a.kind() == ActionKind::send_backward && group_of(a) == group_of(backward);
  }
  /// Gradients of weights that it makes lie in the slot.
  void push(const Action& a, UnitSlot slot) {
    actions_.push_back(a);
    if (auto* pass = std::get_if<ComputePass>(&actions_.back().what); pass && makes_weight_gradients(pass->of))
      pass->gradients = slot;
  }
  [[nodiscard]] UnitRun units_of_segment(const Action& at) const {
    return context_.units.of_segment(Pass::backward, at.chunk, at.segment());
  }
  /// Those whose last gradients the segment makes: a unit of several segments is made when the first of them is.
  [[nodiscard]] UnitRun units_made(const Action& at) const {
    const UnitRun units = units_of_segment(at);
    return {units.first, context_.segment(at).units > 0 ? units.count : 0};
  }
  [[nodiscard]] Bytes early(Bytes bytes, const Run& run) const {
    if (!run.is_last) return bytes;
    return bytes - Bytes(std::llround(sizes_.late_share * static_cast<double>(bytes.value())));
  }
  [[nodiscard]] static Bytes bucket(double share, Bytes whole) {
    return Bytes(std::llround(share * static_cast<double>(whole.value())));
  }
  /// Of what starts before the last backward has ended.
  [[nodiscard]] Bytes total(Bytes SegmentSizes::*of_segment) const {
    Bytes sum(0);
    for (const Run& run : runs_)
      if (run.is_last && !leaves_whole(run)) sum += early(context_.segment(before_[run.first]).*of_segment, run);
    return sum;
  }
  /// Of one pass of a chunk, which begins at this run.
  [[nodiscard]] GradientBuckets<Bytes> buckets_of_pass(const Run& begin) const {
    Bytes whole(0);
    Bytes of_rank(0);
    for (const Run* run = &begin;; ++run) {
      whole += early(context_.segment(before_[run->first]).scatter, *run);
      if (run->ends_group) break;
    }
    for (const ChunkSizes& chunk : sizes_.chunks)
      for (const SegmentSizes& segment : chunk.segments) of_rank += segment.scatter;
    return {whole, bucket(sizes_.scatter_bucket_share, of_rank)};
  }

  void begin(const Run& run) {
    const Action& at = before_[run.first];
    const SegmentSizes& segment = context_.segment(at);
    if (is_sharded()) {
      if (run.begins_group) begin_pass(run);
      const Bytes bytes = early(segment.scatter, run);
      if (run.is_last) late_ += segment.scatter - bytes;
      of_segment_ = of_pass_.add(bytes, segment.units);
      units_of_pass_.add(units_made(at).count, segment.scatter);
      push_of_pass(at, of_segment_.overlapped, Issue::with_last);
    }
    if (!run.is_last) return;
    once_of_segment_ = ready_once(run, segment);
    reduced_ += once_of_segment_.overlapped + once_of_segment_.after;
    units_once_.add(units_made(at).count, segment.reduction);
    push_once(at, once_of_segment_.overlapped, Issue::with_last);
  }
  /// Whether all of the chunk leaves when its last backward has ended.
  [[nodiscard]] bool leaves_whole(const Run& run) const { return sizes_.is_by_chunk && before_[run.first].chunk > 0; }
  GradientBuckets<Bytes>::Ready ready_once(const Run& run, const SegmentSizes& segment) {
    const Bytes made = early(segment.reduction, run);
    if (!leaves_whole(run)) return once_.add(made, segment.units);
    if (run.begins_group) of_chunk_ = {};
    of_chunk_.reduction += made;
    return {Bytes(0), run.ends_group ? of_chunk_.reduction : Bytes(0)};
  }
  /// All that a chunk has made in the step, when the last of it is: scattered, then summed over replicas.
  void reduce_chunk(const Run& run) {
    const Action& at = before_[run.first];
    const SegmentSizes& segment = context_.segment(at);
    if (run.begins_group) of_chunk_ = {};
    if (run.begins_group) units_of_pass_ = UnitQueue(units_of_segment(at).first);
    of_chunk_.scatter += segment.scatter;
    of_chunk_.reduction += segment.reduction;
    units_of_pass_.add(units_made(at).count, segment.scatter);
    units_once_.add(units_made(at).count, segment.reduction);
    if (!run.ends_group) return;
    actions_.push_back(beside(at, scatter_of(at, of_chunk_.scatter, units_of_pass_.rest())));
    reduced_ += of_chunk_.reduction;
    push_once(at, of_chunk_.reduction, Issue::in_order);
  }
  void begin_pass(const Run& run) {
    of_pass_ = buckets_of_pass(run);
    units_of_pass_ = UnitQueue(units_of_segment(before_[run.first]).first);
  }

  /// A sharded backward ends when its last gradients are reduced, were it of no bytes.
  void end(const Run& run) {
    const Action& at = before_[run.last];
    if (is_sharded() && run.ends_group)
      add_of_pass(at, of_segment_.after, Issue::in_order);
    else if (is_sharded())
      push_of_pass(at, of_segment_.after, Issue::after_last);
    if (is_sharded() && run.ends_group && run.is_last) late_units_.push_back(units_of_pass_.rest());
    if (run.is_last) push_once(at, once_of_segment_.after, Issue::after_last);
  }

  void push_tail() {
    Action of_last_passes =
        once_per_step(GradientReduction{GradientsOf::last_passes, Axis::shard, -1, listed(late_units_), late_});
    of_last_passes.micro_batch = context_.input.schedule.shape.micro_batches - 1;
    if (late_.value() > 0) actions_.push_back(of_last_passes);
    const Bytes rest = sizes_.reduction - reduced_;
    if (rest.value() > 0)
      actions_.push_back(once_per_step(GradientReduction{GradientsOf::step, axis_, -1, units_once_.rest(), rest}));
    if (sizes_.partial.value() > 0) actions_.push_back(once_per_step(PartialSum{sizes_.partial}));
    if (sizes_.tied.value() > 0) actions_.push_back(once_per_step(tied_sum(context_)));
  }

  /// One run after another, in one run.
  [[nodiscard]] UnitRun listed(const std::vector<UnitRun>& runs) const {
    const std::int32_t first = context_.units.size();
    for (const UnitRun run : runs) context_.units.append(run);
    return {first, context_.units.size() - first};
  }
  void add_of_pass(const Action& at, Bytes bytes, Issue issue) {
    actions_.push_back(beside(at, scatter_of(at, bytes, units_of_pass_.send(bytes)), issue));
  }
  void push_of_pass(const Action& at, Bytes bytes, Issue issue) {
    if (bytes.value() > 0) add_of_pass(at, bytes, issue);
  }
  void push_once(const Action& at, Bytes bytes, Issue issue) {
    if (bytes.value() == 0) return;
    Action action =
        once_per_step(GradientReduction{GradientsOf::step, axis_, at.segment(), units_once_.send(bytes), bytes}, issue);
    action.chunk = at.chunk;
    actions_.push_back(action);
  }

  const RankContext& context_;
  const RankSizes& sizes_;
  const Actions& before_;
  std::vector<Run> runs_;
  Axis axis_;
  GradientBuckets<Bytes> once_;  ///< what is reduced once per step
  GradientBuckets<Bytes> of_pass_;
  GradientBuckets<Bytes>::Ready once_of_segment_;
  GradientBuckets<Bytes>::Ready of_segment_;
  struct {
    Bytes scatter{0};
    Bytes reduction{0};
  } of_chunk_;  ///< of the chunk whose last gradients are made
  UnitQueue units_once_;
  UnitQueue units_of_pass_;
  std::vector<UnitRun> late_units_;  ///< of the last passes, left when they have ended
  UnitSlot slot_ = UnitSlot::first;  ///< of the next whole gradients
  Bytes reduced_{0};
  Bytes late_{0};
  Actions actions_;
};

}  // namespace

Actions add_reductions(const RankContext& context, const Actions& before) { return Reductions(context, before).run(); }

}  // namespace plumbline::passes
