#include "core/simulate/simulation.h"

#include <algorithm>

namespace plumbline {
namespace {

/// The cause that an action's time counts for; `pipeline_bubble`: waiting for messages.
TimeCause cause_of(const Action& a) {
  switch (a.kind) {
    case ActionKind::recompute: return TimeCause::recompute;
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
    case ActionKind::optimizer_step: return TimeCause::optimizer;
    default: return TimeCause::compute;
  }
}

/// Sends travel without occupying their rank.
bool occupies(const Action& a) { return a.kind != ActionKind::send_forward && a.kind != ActionKind::send_backward; }

struct Busy {
  TimeBreakdown micro_batches;
  Picoseconds step{0};
};

Busy busy(const RankProgram& rank, const std::vector<Span>& spans) {
  Busy result;
  for (std::size_t i = 0; i < rank.actions.size(); ++i) {
    const Action& action = rank.actions[i];
    if (!occupies(action)) continue;
    const Picoseconds length = spans[i].length();
    result.step += length;
    if (action.pass != Pass::step) result.micro_batches[cause_of(action)] += length;
  }
  return result;
}

Picoseconds slowest_optimizer(const Program& program, const Timeline& timeline) {
  Picoseconds slowest(0);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    if (program.ranks[rank].actions.back().kind == ActionKind::optimizer_step)
      slowest = std::max(slowest, timeline.of_rank[rank].back().length());
  return slowest;
}

/// The busiest rank's own work, then what it waits for.
TimeBreakdown attributed(const Program& program, const Simulation& s, Picoseconds overhead) {
  TimeBreakdown time = s.rank_time[static_cast<std::size_t>(s.busiest_rank)];
  time[TimeCause::pipeline_bubble] = Picoseconds(0);
  time[TimeCause::pipeline_bubble] = s.timeline.micro_batches_end - time.total();
  time[TimeCause::data_parallel] += s.timeline.reductions_end - s.timeline.micro_batches_end;
  time[TimeCause::optimizer] = slowest_optimizer(program, s.timeline);
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
  Simulation s;
  s.timeline = timeline(program, times, options);
  s.actions = program.action_count();
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    const Busy work = busy(program.ranks[rank], s.timeline.of_rank[rank]);
    s.rank_time.push_back(work.micro_batches);
    s.idle.push_back(s.timeline.step - times.overhead - work.step);
    s.memory.push_back(memory_peak(program.ranks[rank], fragmentation_fraction));
    const auto busiest = static_cast<std::size_t>(s.busiest_rank);
    if (work.micro_batches.total() > s.rank_time[busiest].total()) s.busiest_rank = static_cast<std::int32_t>(rank);
    if (s.memory[rank].memory.device_total() > s.peak_memory()) s.heaviest_rank = static_cast<std::int32_t>(rank);
  }
  s.time = attributed(program, s, times.overhead);
  return s;
}

}  // namespace plumbline
