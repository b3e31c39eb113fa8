#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/program/action_kinds.h"
#include "core/program/segment_runs.h"

namespace plumbline::passes {
namespace {

Action copy(const Action& at, CopyTo to, Bytes bytes, Issue issue) {
  return beside(at, HostCopy{to, at.segment(), bytes}, issue);
}

/// A copy that goes behind the action with this index; -1: before all.
struct Insertion {
  std::ptrdiff_t behind = -1;
  Action action;
};

/// Two segments' activations are on the device at once: those of the one at work, and those of the one before, on
/// their way out, or of the next one, on their way in. So what leaves does so alongside the run behind its own, what
/// comes back alongside the run before its own, and what would be needed before both are over stays.
class Copies {
 public:
  Copies(const RankContext& context, const Actions& before)
      : context_(context), before_(before), runs_(segment_runs(before)) {}

  std::vector<Insertion> find() {
    for (std::size_t run = 0; run < runs_.size(); ++run) {
      const Action& a = compute(run);
      const SegmentSizes& sizes = context_.segment(a);
      if (sizes.copied_inside > Bytes(0)) add_inside(run, sizes.copied_inside);
      if (sizes.leaves() == Bytes(0)) continue;
      const Pass pass = a.pass();
      const std::tuple of(a.chunk, a.micro_batch, a.segment());
      if (pass == Pass::forward) forwards_[of] = run;
      if (pass == Pass::backward) add_alongside(forwards_.at(of), run, sizes.leaves());
    }
    // What runs alongside an action is issued before what follows it.
    const auto place = [](const Insertion& i) { return std::pair(i.behind, i.action.issue); };
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const Insertion& a, const Insertion& b) { return place(a) < place(b); });
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Action& compute(std::size_t run) const { return before_[runs_[run].compute]; }
  [[nodiscard]] std::ptrdiff_t before(std::size_t run) const {
    return static_cast<std::ptrdiff_t>(runs_[run].compute) - 1;
  }

  /// The last action that is issued with a run's last compute action, or that one.
  [[nodiscard]] std::ptrdiff_t alongside(std::size_t run) const {
    std::size_t last = runs_[run].compute;
    for (std::size_t i = last; i <= runs_[run].last; ++i)
      if (computes(before_[i])) last = i;
    while (last + 1 < before_.size() && before_[last + 1].issue == Issue::with_last) ++last;
    return static_cast<std::ptrdiff_t>(last);
  }

  void add_alongside(std::size_t forward, std::size_t backward, Bytes bytes) {
    if (backward < forward + 3) return;
    found_.push_back({alongside(forward + 1), copy(compute(forward), CopyTo::host, bytes, Issue::with_last)});
    found_.push_back({before(backward - 1), copy(compute(backward), CopyTo::device, bytes, Issue::after_last)});
  }
  void add_inside(std::size_t run, Bytes bytes) {
    const Action& a = compute(run);
    if (a.pass() == Pass::forward)
      found_.push_back({static_cast<std::ptrdiff_t>(runs_[run].last), copy(a, CopyTo::host, bytes, Issue::in_order)});
    if (a.pass() == Pass::backward) found_.push_back({before(run), copy(a, CopyTo::device, bytes, Issue::in_order)});
  }

  const RankContext& context_;
  const Actions& before_;
  std::vector<SegmentRun> runs_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::size_t> forwards_;
  std::vector<Insertion> found_;
};

bool offloads(const RankSizes& sizes) {
  for (const ChunkSizes& chunk : sizes.chunks)
    for (const SegmentSizes& segment : chunk.segments)
      if (segment.leaves() + segment.copied_inside > Bytes(0)) return true;
  return false;
}

Action states_copy(CopyTo to, Bytes bytes) {
  return once_per_step(HostCopy{.to = to, .bytes = bytes}, Issue::after_last);
}

/// What an optimizer that needs whole matrices, or sums of them, sends; it runs inside of its step, and takes its time
/// there.
void add_matrix_gathers(const RankSizes& sizes, Actions& actions) {
  const auto add = [&](MatrixParts parts, Bytes bytes) {
    if (bytes.value() > 0) actions.push_back(once_per_step(MatrixGather{parts, sizes.matrices.exchange, bytes}));
  };
  add(MatrixParts::shards, sizes.matrices.shards);
  add(MatrixParts::slices, sizes.matrices.slices);
}

}  // namespace

void add_copies(const RankContext& context, Actions& actions) {
  if (!offloads(context.sizes())) return;
  const std::vector<Insertion> copies = Copies(context, actions).find();
  Actions longer;
  longer.reserve(actions.size() + copies.size());
  std::size_t next = 0;
  for (std::ptrdiff_t i = -1; i < std::ssize(actions); ++i) {
    if (i >= 0) longer.push_back(actions[static_cast<std::size_t>(i)]);
    for (; next < copies.size() && copies[next].behind == i; ++next) longer.push_back(copies[next].action);
  }
  actions = std::move(longer);
}

void add_optimizer_step(const RankContext& context, Actions& actions) {
  const Bytes states = context.sizes().offloaded_states;
  if (states.value() > 0) {
    const auto last =
        std::find_if(actions.rbegin(), actions.rend(), [](const Action& a) { return a.pass() != Pass::step; });
    actions.insert(last.base(), states_copy(CopyTo::device, states));
  }
  add_matrix_gathers(context.sizes(), actions);
  actions.push_back(once_per_step(OptimizerStep{}));
  if (states.value() > 0) actions.push_back(states_copy(CopyTo::host, states));
}

}  // namespace plumbline::passes
