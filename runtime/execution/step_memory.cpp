#include "runtime/execution/step_memory.h"

#include "runtime/device/idle_device.h"
#include "runtime/execution/executor.h"

namespace plumbline {
namespace {

/// The rank once more, on a device that does nothing.
struct Rehearsal {
  Rehearsal(const ExecutionPlan& plan, RankEnvironment& real, const DataFeed& feed)
      : device(real.device.kernels()),
        recorder(device),
        backend(device),
        parameters(real.parameters.layout(), plan.strategy, plan.training, real.groups, backend, device),
        env(plan.strategy, plan.training, real.groups, backend, device, parameters, real.operands.scaling()),
        executor(plan, env, feed, false) {
    env.constants = real.constants;
    env.routing = real.routing;
    env.is_rehearsal = true;
  }

  IdleDevice device;
  LifeRecorder recorder;
  Backend backend;
  ParameterStore parameters;
  RankEnvironment env;
  Executor executor;
};

/// Tokens that nobody looks at.
TokenBatch no_tokens(const DataFeed& feed, const BatchLayout& layout) {
  TokenBatch batch{layout.micro_batch_sequences, feed.sequence_length(), {}, {}};
  batch.tokens.resize(static_cast<std::size_t>(batch.sequences) * static_cast<std::size_t>(batch.length));
  batch.targets.resize(batch.tokens.size());
  return batch;
}

}  // namespace

StepMemory::StepMemory(const ExecutionPlan& plan, RankEnvironment& environment, const DataFeed& feed)
    : plan_(plan), env_(environment), feed_(feed) {
  of_step_ = rehearsed([&](Rehearsal& rank) {
    rank.executor.run_step(0, [&] { rank.parameters.update({OptimizerSettings()}, [] {}); });
  });
  env_.backend.prepare(of_step_);
}

const StepPlan& StepMemory::of_forwards(std::int32_t micro_batches) {
  const auto known = of_forwards_.find(micro_batches);
  if (known != of_forwards_.end()) return known->second;
  StepPlan& plan = of_forwards_[micro_batches] = rehearsed([&](Rehearsal& rank) {
    const BatchSource tokens = [&](const BatchLayout& layout, std::int32_t) { return no_tokens(feed_, layout); };
    (void)rank.executor.run_forwards(tokens, micro_batches);
  });
  env_.backend.prepare(plan);
  return plan;
}

template <class Walk>
StepPlan StepMemory::rehearsed(Walk walk) const {
  Rehearsal rank(plan_, env_, feed_);
  rank.backend.record(rank.recorder);
  walk(rank);
  env_.prepare_as(rank.env);
  StepPlan plan = rank.recorder.plan(rank.executor.program().actions.size());
  plan.scratch = rank.backend.scratch_sizes();
  return plan;
}

}  // namespace plumbline
