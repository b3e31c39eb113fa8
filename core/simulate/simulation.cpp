#include "core/simulate/simulation.h"

#include <algorithm>

#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

/// The cause that an action's time counts for; `pipeline_bubble`: waiting for messages.
TimeCause cause_of(const Action& a) {
  if (is_replay(a)) return TimeCause::recompute;
  switch (a.kind()) {
    case ActionKind::tensor_collective: return TimeCause::tensor_parallel;
    case ActionKind::context_collective: return TimeCause::context_parallel;
    case ActionKind::expert_collective: return TimeCause::expert_parallel;
    case ActionKind::all_gather_parameters:
    case ActionKind::release_parameters:
    case ActionKind::reduce_gradients: return TimeCause::data_parallel;
    case ActionKind::send_forward:
    case ActionKind::send_backward:
    case ActionKind::receive_forward:
    case ActionKind::receive_backward: return TimeCause::pipeline_bubble;
    case ActionKind::offload:
    case ActionKind::fetch: return TimeCause::offload;
    case ActionKind::optimizer_step: return TimeCause::optimizer;
    default: return TimeCause::compute;
  }
}

/// Sends travel without occupying their rank.
bool occupies(const Action& a) { return sent_by(a) == nullptr; }
/// A rank waits out a transfer that blocks.
bool receives_blocking(const Action& a) {
  const StageMessage* received = received_by(a);
  return received != nullptr && received->handover == Handover::blocking;
}

struct Busy {
  TimeBreakdown micro_batches;
  Picoseconds step{0};
};

/// How often the actions of one rank are in the whole program.
struct RankCounts {
  const LeftOut& left_out;
  std::size_t rank;
  [[nodiscard]] std::int64_t operator[](std::size_t action) const { return left_out.count(rank, action); }
};

/// Where nothing runs alongside anything, an action's time is its cause's.
Busy busy(const RankProgram& rank, const std::vector<Span>& spans, const RankCounts& counts) {
  Busy result;
  for (std::size_t i = 0; i < rank.actions.size(); ++i) {
    const Action& action = rank.actions[i];
    if (!occupies(action)) continue;
    const Picoseconds length = counts[i] * spans[i].length();
    result.step += length;
    if (action.pass() != Pass::step) result.micro_batches[cause_of(action)] += length;
  }
  return result;
}

/// Else what an action would take alone is; what it takes longer, and what it waits for gathered parameters or reduced
/// gradients alone, is data parallelism's; what it waits for copies to the host, theirs.
class BusyBeside {
 public:
  BusyBeside(const RankProgram& rank, const std::vector<Span>& spans, const std::vector<Picoseconds>& times,
             double slowdown, const RankCounts& counts)
      : rank_(rank), spans_(spans), times_(times), slowdown_(slowdown), counts_(counts) {}

  Busy run() {
    for (std::size_t i = 0; i < rank_.actions.size(); ++i) {
      const Action& action = rank_.actions[i];
      if (action.stream() == Stream::data) communicated_ = std::max(communicated_, spans_[i].end);
      if (action.issue == Issue::in_order && message_of(action) == nullptr) add(i);
      // A receive in transit or a transfer that blocks: the rank waits, and goes on from there.
      if (receives_blocking(action)) add(i);
    }
    // At its end a rank waits for its own reductions.
    result_.step += std::max(Picoseconds(0), communicated_ - reduced_from_);
    return result_;
  }

 private:
  [[nodiscard]] Picoseconds end_of(std::int32_t need) const {
    return need < 0 ? Picoseconds(0) : spans_[static_cast<std::size_t>(need)].end;
  }
  void add(std::size_t i) {
    const Action& action = rank_.actions[i];
    const Picoseconds ready = std::max(end_of(action.needs[0]), end_of(action.needs[1]));
    const Picoseconds gathered = std::max(ready, end_of(action.needs[2]));
    const Picoseconds copied = std::max(gathered, end_of(action.needs[3]));
    const bool waits_for_queue = action.barrier() == Barrier::none && copied == spans_[i].start;
    const Picoseconds waited = waits_for_queue ? gathered - ready : Picoseconds(0);
    const Picoseconds waited_for_copies = waits_for_queue ? copied - gathered : Picoseconds(0);
    const Picoseconds length = spans_[i].length();
    const Picoseconds own = std::min(length, alone(action, times_[i], slowdown_));
    result_.step += counts_[i] * (waited + waited_for_copies + length);
    if (!std::holds_alternative<OptimizerStep>(action.what)) reduced_from_ = std::max(reduced_from_, spans_[i].end);
    if (action.pass() == Pass::step) return;
    result_.micro_batches[cause_of(action)] += counts_[i] * own;
    result_.micro_batches[TimeCause::data_parallel] += counts_[i] * (waited + length - own);
    result_.micro_batches[TimeCause::offload] += counts_[i] * waited_for_copies;
  }

  const RankProgram& rank_;
  const std::vector<Span>& spans_;
  const std::vector<Picoseconds>& times_;
  double slowdown_;
  const RankCounts& counts_;
  Picoseconds communicated_{0};
  Picoseconds reduced_from_{0};
  Busy result_;
};

/// As the closed form says it (StepPricer::price): without what happens once per step and slows ranks that do the same
/// differently, and without messages that the rank waits for, of which ranks at the turn of a V have fewer.
Picoseconds own_work(const TimeBreakdown& time) {
  return time.total() - time[TimeCause::data_parallel] - time[TimeCause::pipeline_bubble];
}

/// The busiest rank's own work, then what it waits for.
TimeBreakdown attributed(const Simulation& s, Picoseconds overhead) {
  TimeBreakdown time = s.rank_time[static_cast<std::size_t>(s.busiest_rank)];
  time[TimeCause::pipeline_bubble] = Picoseconds(0);
  time[TimeCause::pipeline_bubble] = s.timeline.micro_batches_end - time.total();
  time[TimeCause::data_parallel] += s.timeline.reductions_end - s.timeline.micro_batches_end;
  time[TimeCause::optimizer] = s.timeline.step - overhead - s.timeline.reductions_end;
  time[TimeCause::step_overhead] = overhead;
  return time;
}

}  // namespace

Picoseconds Simulation::exposed_communication() const {
  return time[TimeCause::tensor_parallel] + time[TimeCause::context_parallel] + time[TimeCause::expert_parallel] +
         time[TimeCause::data_parallel];
}

Bytes Simulation::peak_memory() const { return memory[static_cast<std::size_t>(heaviest_rank)].memory.device_total(); }

Simulation simulate(const Program& program, const ActionTimes& times, double fragmentation_fraction,
                    const TimelineOptions& options) {
  return simulation_of(program, times, timeline(program, times, options), fragmentation_fraction, options);
}

Simulation simulation_of(const Program& program, const ActionTimes& times, Timeline simulated,
                         double fragmentation_fraction, const TimelineOptions& options, const LeftOut& left_out) {
  Simulation s;
  s.timeline = std::move(simulated);
  s.left_out = left_out;
  s.actions = program.action_count();
  if (s.timeline.stall) return s;
  wait_for_links(s.timeline, times, left_out.time);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const std::vector<Span>& spans = s.timeline.of_rank[rank];
    const double slowdown = rank < options.slowdown.size() ? options.slowdown[rank] : 1.0;
    const RankCounts counts{left_out, rank};
    const Busy work = program.overlapped_actions > 0
                          ? BusyBeside(program.ranks[rank], spans, times.of_rank[rank], slowdown, counts).run()
                          : busy(program.ranks[rank], spans, counts);
    s.rank_time.push_back(work.micro_batches);
    s.idle.push_back(s.timeline.step + left_out.time - times.overhead - work.step);
    s.memory.push_back(memory_peak(program.ranks[rank], fragmentation_fraction));
    if (own_work(s.rank_time[rank]) > own_work(s.rank_time[static_cast<std::size_t>(s.busiest_rank)]))
      s.busiest_rank = static_cast<std::int32_t>(rank);
    if (s.memory[rank].memory.device_total() > s.peak_memory()) s.heaviest_rank = static_cast<std::int32_t>(rank);
    if (left_out.micro_batches > 0) s.actions += left_out.repeats * (left_out.cut[rank] - left_out.first[rank]);
  }
  if (left_out.micro_batches > 0) lengthen(s.timeline, left_out);
  s.time = attributed(s, times.overhead);
  return s;
}

}  // namespace plumbline
