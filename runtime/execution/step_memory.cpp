#include "runtime/execution/step_memory.h"

#include "runtime/device/idle_device.h"
#include "runtime/execution/executor.h"

namespace plumbline {
namespace {

/// The rank once more, on a device that does nothing.
struct Rehearsal {
  Rehearsal(const ExecutionPlan& plan, const RankShare& share, const DeviceKernels& kernels,
            const ParameterLayout& layout)
      : lanes(kernels),
        recorder(lanes),
        backend(lanes),
        device(share.groups, backend, lanes),
        parameters(layout, plan.strategy, plan.training, share.groups, backend, lanes),
        values(share.groups, device),
        executor(plan, ExecutionMode::rehearsal, share, device, parameters, values) {}

  IdleDevice lanes;
  LifeRecorder recorder;
  Backend backend;
  RankDevice device;
  ParameterStore parameters;
  StepValues values;
  Executor executor;
};

/// Tokens that nobody looks at.
BatchSource no_tokens(const Training& training) {
  return [&training](const BatchLayout& layout, std::int32_t) {
    TokenBatch batch{layout.micro_batch_sequences, static_cast<std::int32_t>(training.sequence_length), {}, {}};
    batch.tokens.resize(static_cast<std::size_t>(batch.sequences) * static_cast<std::size_t>(batch.length));
    batch.targets.resize(batch.tokens.size());
    return batch;
  };
}

}  // namespace

StepMemory::StepMemory(const ExecutionPlan& plan, const RankShare& share, RankDevice& device,
                       const ParameterStore& parameters, Executor& executor)
    : plan_(plan), share_(share), device_(device), parameters_(parameters), executor_(executor) {
  of_step_ = rehearsed([&](Rehearsal& rank) {
    rank.executor.run_step(0, no_tokens(plan.training), [&] { rank.parameters.update({OptimizerSettings()}, [] {}); });
  });
  device_.memory.prepare(of_step_);
}

const StepPlan& StepMemory::of_forwards(std::int32_t micro_batches) {
  const auto known = of_forwards_.find(micro_batches);
  if (known != of_forwards_.end()) return known->second;
  StepPlan& plan = of_forwards_[micro_batches] =
      rehearsed([&](Rehearsal& rank) { (void)rank.executor.run_forwards(no_tokens(plan_.training), micro_batches); });
  device_.memory.prepare(plan);
  return plan;
}

template <class Walk>
StepPlan StepMemory::rehearsed(Walk walk) const {
  Rehearsal rank(plan_, share_, device_.lanes.kernels(), parameters_.layout());
  rank.backend.record(rank.recorder);
  walk(rank);
  executor_.prepare_as(rank.executor);
  StepPlan plan = rank.recorder.plan(rank.executor.program().actions.size());
  plan.scratch = rank.backend.scratch_sizes();
  return plan;
}

}  // namespace plumbline
