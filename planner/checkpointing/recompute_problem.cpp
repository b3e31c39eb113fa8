#include "planner/checkpointing/recompute_problem.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// Per value, whether the backward pass or an op of `replayed` reads it; drops replays that write nothing that is read.
std::vector<bool> read_values(const RecomputeProblem& problem, std::vector<bool>& replayed) {
  std::vector<bool> read;
  for (const RecomputeValue& value : problem.values) read.push_back(value.needed);
  for (std::size_t o = problem.ops.size(); o-- > 0;) {
    const RecomputeOp& op = problem.ops[o];
    bool useful = false;
    for (const std::int32_t output : op.outputs) useful = useful || read[at(output)];
    replayed[o] = replayed[o] && useful;
    if (!replayed[o]) continue;
    check(op.can_replay, "a choice replays only what may be replayed");
    for (const std::int32_t input : op.inputs) read[at(input)] = true;
  }
  return read;
}

}  // namespace

std::int32_t RecomputeProblem::add_value(RecomputeValue value) {
  const auto index = static_cast<std::int32_t>(values.size());
  if (value.producer >= 0) ops[at(value.producer)].outputs.push_back(index);
  values.push_back(std::move(value));
  return index;
}

RecomputeChoice price_choice(const RecomputeProblem& problem, std::vector<bool> replayed) {
  RecomputeChoice choice;
  const std::vector<bool> read = read_values(problem, replayed);
  for (std::size_t v = 0; v < problem.values.size(); ++v) {
    const RecomputeValue& value = problem.values[v];
    if (!read[v]) continue;
    if (value.producer < 0 || !replayed[at(value.producer)])
      choice.saved += value.size;
    else if (value.needed)
      choice.restored += value.size;
  }
  for (std::size_t o = 0; o < problem.ops.size(); ++o)
    if (replayed[o]) choice.time += problem.ops[o].time;
  choice.replayed = std::move(replayed);
  return choice;
}

}  // namespace plumbline
