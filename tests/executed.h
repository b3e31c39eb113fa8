#pragma once
/// \file executed.h: a strategy lowered to a program of single blocks, predicted, and run on local ranks.

#include <mutex>

#include "core/cost/program_cost.h"
#include "core/cost/replays.h"
#include "core/cost/routed_sizes.h"
#include "core/cost/ruled_variants.h"
#include "core/program/block_programs.h"
#include "core/simulate/simulation.h"
#include "runtime/execution/parameter_store.h"
#include "runtime/run/trainer.h"
#include "tests/machines.h"
#include "tests/networks.h"

namespace plumbline {

/// The round machine with this runtime's own habits: no context, no communicator buffers, nothing lost, nothing beside
/// the logits; every unit's gradients reduced when they are made, or in a pipeline with their chunk's.
[[nodiscard]] inline Calibration runtime_calibration(ShardedGradients scatters = ShardedGradients::every_backward) {
  Calibration c = round_calibration();
  c.stack.features.sharded_gradients = scatters;
  StackCalibration& s = c.stack;
  for (Coefficient* none :
       {&s.memory.context_bytes, &s.memory.communicator_bytes, &s.memory.workspace_bytes,
        &s.memory.fragmentation_fraction, &s.communication.bucket_bytes, &s.communication.data_parallel_exposure})
    none->value = 0;
  s.memory.logit_bytes.value = 0;
  return c;
}

/// A whole tensor, put together from what ranks answer for.
using WholeTensors = std::map<std::string, std::vector<float>>;

/// Everything between a strategy and its program.
class LoweredPlan {
 public:
  LoweredPlan(Graph network, const Strategy& s, const Training& recipe,
              const Calibration& habits = runtime_calibration())
      : graph(std::move(network)),
        strategy(s),
        training(recipe),
        calibration(habits),
        pricer(round_cluster(static_cast<std::int32_t>((s.devices() + 7) / 8)), calibration),
        steps(pricer, training),
        chunks(s.layers_per_stage.empty() ? split_into_chunks(graph, s.chunks())
                                          : split_into_chunks(graph, s.layers_per_stage)),
        layout(stage_layout(graph, s, chunks, ruled_variants(graph, s.recompute, chunks))) {
    for (const Block& block : graph.blocks())
      blocks.push_back(pricer.price(block, shard_of(strategy, training), block_groups(strategy)));
    const StageTable ranks(graph, layout, blocks);
    const PricedPlan priced{graph, strategy, training, calibration.stack, steps, ranks, blocks};
    const SizedPlan of_plan = priced.sizes();
    const SegmentTable segments(of_plan, Granularity::block);
    sizes = scattered_by_unit(lowering_input(of_plan, segments));
    replays = replays_of(graph, blocks, layout.arrangement, strategy.recompute.mode);
    KnownPrograms known;
    sizes.blocks = block_programs(graph, shard_of(strategy, training), replays, known);
    program = lower(sizes);
    simulation = simulate(program, action_times(priced, segments, program), 0);
  }
  LoweredPlan(const LoweredPlan&) = delete;
  LoweredPlan& operator=(const LoweredPlan&) = delete;

  [[nodiscard]] TrainingJob job() const {
    TrainingJob job{graph, strategy, training, program, {}, {}, {}, {}, "test"};
    job.learning_rate.peak = 0.01;
    job.learning_rate.steps = 100;
    return job;
  }

  Graph graph;
  Strategy strategy;
  Training training;
  Calibration calibration;
  BlockPricer pricer;
  StepPricer steps;
  std::vector<Chunk> chunks;
  StageLayout layout;
  std::vector<BlockCost> blocks;
  LoweringInput sizes;
  Program program;
  Simulation simulation;
  std::vector<Replay> replays;
};

/// Of each expert, one after another; a matrix that is no expert's counts as one.
struct MatrixShape {
  std::int64_t experts = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};
/// Weight matrices inside the layers, by name, whole.
using MatrixShapes = std::map<std::string, MatrixShape>;

struct Executed {
  RunRecord record;
  WholeTensors weights;         ///< after the last step
  WholeTensors gradients;       ///< of the first step, before clipping
  WholeTensors first_weights;   ///< after the first step
  WholeTensors last_gradients;  ///< before clipping
  MatrixShapes matrices;
};

[[nodiscard]] inline TokenSource random_tokens(std::int32_t vocabulary, std::int32_t count) {
  std::vector<std::int32_t> tokens;
  std::uint32_t state = 1;
  for (std::int32_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator
    tokens.push_back(static_cast<std::int32_t>((state >> 16) % static_cast<std::uint32_t>(vocabulary)));
  }
  return {std::move(tokens), vocabulary};
}

/// Puts whole tensors together from what ranks hold, and hands on to another probe.
class CollectingProbe : public ExecutionProbe {
 public:
  explicit CollectingProbe(ExecutionProbe* next) : next_(next != nullptr ? *next : nobody_) {}

  void on_action(std::int32_t rank, std::int64_t step, std::int32_t action) override {
    next_.on_action(rank, step, action);
  }
  void on_logits(const LocalLogits& logits) override { next_.on_logits(logits); }
  void on_gradients(std::int32_t rank, std::int64_t step, const ParameterStore& parameters) override {
    collect(gradients, step, ParameterPart::gradients, parameters);
    next_.on_gradients(rank, step, parameters);
  }
  void on_updated(std::int32_t rank, std::int64_t step, const ParameterStore& parameters) override {
    collect(weights, step, ParameterPart::weights, parameters);
    next_.on_updated(rank, step, parameters);
  }

  using BySteps = std::map<std::int64_t, WholeTensors>;
  BySteps gradients;
  BySteps weights;  ///< behind each step
  MatrixShapes matrices;

 private:
  void collect(BySteps& steps, std::int64_t step, ParameterPart what, const ParameterStore& store);

  ExecutionProbe nobody_;
  ExecutionProbe& next_;
  std::mutex mutex_;
};

inline void CollectingProbe::collect(BySteps& steps, std::int64_t step, ParameterPart what,
                                     const ParameterStore& store) {
  const std::scoped_lock lock(mutex_);
  WholeTensors& into = steps[step];
  const LocalParameter* last = nullptr;
  std::vector<float>* whole = nullptr;
  store.state.visit(what, [&](const LocalParameter& p, std::int64_t index, float value) {
    if (&p != last) {
      whole = &into[p.name];
      whole->resize(static_cast<std::size_t>(p.box.whole[0] * p.box.whole[1] * p.box.whole[2]),
                    std::numeric_limits<float>::quiet_NaN());
      last = &p;
      if (p.is_layer_matrix) matrices[p.name] = {p.box.whole[0], p.box.whole[1], p.box.whole[2]};
    }
    (*whole)[static_cast<std::size_t>(index)] = value;
  });
}

/// Runs a job and collects whole tensors.
[[nodiscard]] inline Executed execute(const TrainingJob& job, RunOptions options) {
  Executed result;
  CollectingProbe probe(options.tests.probe);
  options.tests.probe = &probe;
  result.record = train(job, options);
  result.matrices = probe.matrices;
  if (!probe.gradients.empty()) {
    result.gradients = probe.gradients.begin()->second;
    result.last_gradients = probe.gradients.rbegin()->second;
  }
  if (!probe.weights.empty()) {
    result.first_weights = probe.weights.begin()->second;
    result.weights = probe.weights.rbegin()->second;
  }
  return result;
}

}  // namespace plumbline
