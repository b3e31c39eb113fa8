#pragma once
/// \file executions.h: the actions of a stage as often as they are executed in a simulated step.
///
/// A simulation of very many micro-batches leaves out periods of its steady state (core/simulate/steady_state.h); here
/// they are visited again, each later by what a period takes. Checked against:
/// tests/gui/pages/timeline/lanes_test.cpp (a short program put back equals the whole one).

#include "planner/pricing/simulated.h"

namespace plumbline::gui {

/// One execution of an action of the program.
struct Execution {
  std::int32_t action = 0;
  std::int32_t micro_batch = -1;
  std::int32_t later = 0;  ///< micro-batches that a repeated period adds to those of its buffers
  Span span;
};

/// How many executions all stages have, those that were left out included.
[[nodiscard]] inline std::int64_t execution_count(const SimulatedPlan& simulated) {
  return simulated.simulation.actions;
}

/// `visit(execution)` in order of issue. `repeats`: of the period that was left out: all of them, or 0.
template <class Visit>
void for_each_execution(const SimulatedPlan& simulated, std::size_t stage, std::int64_t repeats, Visit visit) {
  const std::vector<Action>& actions = simulated.program.ranks[stage].actions;
  const std::vector<Span>& spans = simulated.simulation.timeline.of_rank[stage];
  const LeftOut& left_out = simulated.simulation.left_out;
  const auto run = [&](std::size_t first, std::size_t last, Picoseconds shift, std::int32_t later) {
    for (std::size_t i = first; i < last; ++i) {
      const std::int32_t own = actions[i].micro_batch;
      visit(Execution{static_cast<std::int32_t>(i),
                      own < 0 ? own : own + later,
                      later,
                      {spans[i].start + shift, spans[i].end + shift}});
    }
  };
  if (left_out.micro_batches == 0) return run(0, actions.size(), Picoseconds(0), 0);
  const auto first = static_cast<std::size_t>(left_out.first[stage]);
  const auto cut = static_cast<std::size_t>(left_out.cut[stage]);
  const Picoseconds period(left_out.time.value() / left_out.repeats);
  const auto micro_batches = static_cast<std::int32_t>(left_out.micro_batches / left_out.repeats);
  run(0, cut, Picoseconds(0), 0);
  for (std::int64_t k = 1; k <= repeats; ++k) run(first, cut, k * period, static_cast<std::int32_t>(k) * micro_batches);
  run(cut, actions.size(), Picoseconds(0), 0);  // renumbered where they were simulated
}

}  // namespace plumbline::gui
