// Forwards alone: an evaluation walks the actions that a step walks, and keeps nothing for a backward.
#include "runtime/execution/executor.h"

namespace plumbline {

/// Gathers of what the last update changed are at the first forward of each chunk, whichever micro-batch that is.
bool Executor::is_of_forwards(const Action& action, std::int32_t micro_batches) const {
  if (action.pass() != Pass::forward) return false;
  const bool is_first = action.micro_batch < micro_batches;
  switch (action.kind()) {
    case ActionKind::forward:
    case ActionKind::send_forward:
    case ActionKind::receive_forward:
    case ActionKind::release_parameters: return is_first;
    case ActionKind::all_gather_parameters: return is_first || plan_.strategy.zero_stage < 3;
    default: return false;  // collectives run inside of the block before them
  }
}

CrossEntropyLoss Executor::run_forwards(const BatchSource& batches, std::int32_t micro_batches,
                                        const BeforeAction& before) {
  batches_.begin_step(batches);
  batches_.begin_pass();
  if (memory_ != nullptr) device_.memory.begin_step(memory_->of_forwards(micro_batches));
  scalars_.begin();
  pass_.is_evaluating = true;
  tables_.operands.begin_step();
  lanes_.begin_step();
  inside_.begin_step();
  device_.lanes.forget_times();
  LiveBytes& live = device_.memory.live();
  for (std::int32_t i = 0; i < std::ssize(rank_.actions); ++i) {
    const Action& action = rank_.actions[static_cast<std::size_t>(i)];
    if (!is_of_forwards(action, micro_batches)) continue;
    if (before) before(i);
    live.begin_action();
    issue(i, {});
    live.end_action(i);  // no more than in a step, or a comparison of bytes says so
    if (action.kind() == ActionKind::forward) states_.erase({execution_of(action), action.micro_batch});
  }
  if (memory_ != nullptr) device_.memory.end_step();
  pass_.is_evaluating = false;
  return scalars_.read_own().loss;
}

}  // namespace plumbline
