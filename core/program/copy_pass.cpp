#include <algorithm>
#include <map>

#include "core/program/segment_runs.h"

namespace plumbline::passes {
namespace {

Action copy(const Action& at, ActionKind kind, Bytes bytes, Issue issue) {
  Action action = at;
  action.kind = kind;
  action.stream = Stream::copy;
  action.replay = IsReplay::no;
  action.bytes = bytes;
  action.issue = issue;
  return action;
}

/// A copy that goes behind the action with this index; -1: before all.
struct Insertion {
  std::ptrdiff_t behind = -1;
  Action action;
};

/// One run ahead of where it is read, but never before it has left.
class Copies {
 public:
  Copies(const RankContext& context, const Actions& before) : context_(context), before_(before) {}

  std::vector<Insertion> find() {
    std::ptrdiff_t overlapped_before = -1;
    for (const SegmentRun& run : segment_runs(before_)) {
      const Action& a = before_[run.compute];
      const Bytes bytes = context_.segment(a).offloaded;
      if (bytes.value() > 0 && a.pass == Pass::backward) fetch(a, run, overlapped_before, bytes);
      if (bytes.value() > 0 && a.pass == Pass::forward) offload(a, run, bytes);
      overlapped_before = static_cast<std::ptrdiff_t>(run.overlapped);
    }
    // What runs alongside an action is issued before what follows it.
    const auto place = [](const Insertion& i) { return std::pair(i.behind, i.action.issue); };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const Insertion& a, const Insertion& b) { return place(a) < place(b); });
    return std::move(found_);
  }

 private:
  void offload(const Action& a, const SegmentRun& run, Bytes bytes) {
    const auto last = static_cast<std::ptrdiff_t>(run.last);
    found_.push_back({last, copy(a, ActionKind::offload, bytes, Issue::after_last)});
    left_[{a.chunk, a.micro_batch, a.segment}] = last;
  }
  void fetch(const Action& a, const SegmentRun& run, std::ptrdiff_t overlapped_before, Bytes bytes) {
    const bool ahead = overlapped_before > left_[{a.chunk, a.micro_batch, a.segment}];
    found_.push_back({ahead ? overlapped_before : static_cast<std::ptrdiff_t>(run.compute) - 1,
                      copy(a, ActionKind::fetch, bytes, ahead ? Issue::with_last : Issue::after_last)});
  }

  const RankContext& context_;
  const Actions& before_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::ptrdiff_t> left_;
  std::vector<Insertion> found_;
};

bool offloads(const RankSizes& sizes) {
  for (const ChunkSizes& chunk : sizes.chunks)
    for (const SegmentSizes& segment : chunk.segments)
      if (segment.offloaded.value() > 0) return true;
  return false;
}

Action states_copy(ActionKind kind, Bytes bytes) {
  Action action;
  action.pass = Pass::step;
  return copy(action, kind, bytes, Issue::after_last);
}

/// What an optimizer that needs whole matrices sends; it runs inside of its step, and takes its time there.
void add_matrix_gathers(const RankSizes& sizes, Actions& actions) {
  const auto add = [&](Stream stream, Axis axis, Bytes bytes) {
    if (bytes.value() == 0) return;
    Action& action = actions.emplace_back();
    action.kind = ActionKind::all_gather_parameters;
    action.stream = stream;
    action.pass = Pass::step;
    action.axis = axis;
    action.bytes = bytes;
  };
  add(Stream::data, Axis::shard, sizes.matrix_shards);
  add(Stream::tensor, Axis::tensor, sizes.matrix_slices);
}

}  // namespace

Actions add_copies(const RankContext& context, const Actions& before) {
  if (!offloads(context.sizes())) return before;
  const std::vector<Insertion> copies = Copies(context, before).find();
  Actions actions;
  actions.reserve(before.size() + copies.size());
  std::size_t next = 0;
  for (std::ptrdiff_t i = -1; i < std::ssize(before); ++i) {
    if (i >= 0) actions.push_back(before[static_cast<std::size_t>(i)]);
    for (; next < copies.size() && copies[next].behind == i; ++next) actions.push_back(copies[next].action);
  }
  return actions;
}

Actions add_optimizer_step(const RankContext& context, const Actions& before) {
  Actions actions = before;
  const Bytes states = context.sizes().offloaded_states;
  if (states.value() > 0) {
    const auto last =
        std::find_if(actions.rbegin(), actions.rend(), [](const Action& a) { return a.pass != Pass::step; });
    actions.insert(last.base(), states_copy(ActionKind::fetch, states));
  }
  add_matrix_gathers(context.sizes(), actions);
  Action& action = actions.emplace_back();
  action.kind = ActionKind::optimizer_step;
  action.pass = Pass::step;
  action.barrier = Barrier::gradient_norm;
  if (states.value() > 0) actions.push_back(states_copy(ActionKind::offload, states));
  return actions;
}

}  // namespace plumbline::passes
