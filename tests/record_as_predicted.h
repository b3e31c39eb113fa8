#pragma once
/// \file record_as_predicted.h: a record of the run that a program predicts: four ranks, two to a pipeline stage.

#include "core/measurement/run_record.h"
#include "planner/pricing/simulated.h"
#include "planner/question/fingerprint.h"

namespace plumbline {

[[nodiscard]] inline RankRecord rank_as_predicted(const SimulatedPlan& simulated, std::int32_t index,
                                                  std::int32_t stage) {
  const auto s = static_cast<std::size_t>(stage);
  const RankProgram& program = simulated.program.ranks[s];
  RankRecord rank;
  rank.rank = index;
  rank.stage = stage;
  rank.memory.at_peak = memory_peak(program, 0).memory;
  Bytes tensor(0);
  Bytes pipeline(0);
  Bytes expert(0);
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action& action = program.actions[i];
    if (action.kind() == ActionKind::tensor_collective) tensor += action.bytes();
    if (action.kind() == ActionKind::expert_collective) expert += action.bytes();
    if (action.stream() == Stream::pipeline) pipeline += action.bytes();
    ActionRecord record;
    record.action = static_cast<std::int32_t>(i);
    record.kind = action.kind();
    record.stream = action.stream();
    record.median_ns = simulated.simulation.timeline.of_rank[s][i].length().value() / 1000;
    rank.actions.push_back(record);
  }
  rank.sent = {{"tensor", "all-reduce", 10, tensor}, {"pipeline", "send-receive", 8, pipeline}};
  if (expert > Bytes(0)) rank.sent.push_back({"expert", "all-to-all", 8, expert});
  rank.sent.push_back({"control", "all-reduce", 1, Bytes(4)});
  return rank;
}

[[nodiscard]] inline RunRecord record_as_predicted(const Plan& plan, const SimulatedPlan& simulated) {
  RunRecord record;
  record.plan_fingerprint = fingerprint(plan);
  record.backend = "cpu";
  record.steps = {{0, 5.5, 1, 1e-3, simulated.simulation.step().value() / 1000, StepOutcome::taken, {}}};
  for (std::int32_t rank = 0; rank < 4; ++rank) record.ranks.push_back(rank_as_predicted(simulated, rank, rank / 2));
  return record;
}

}  // namespace plumbline
