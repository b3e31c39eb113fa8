// What context a lowered plan costs; items are actions, so items/s is actions per second per core.
#include <benchmark/benchmark.h>

#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"

namespace plumbline {
namespace {

/// Llama-3 405B on 16 384 GPUs: 16 pipeline ranks of 8 virtual stages, 64 micro-batches.
Question llama_405b() {
  QuestionText text;
  text.model = "llama-3.1-405b";
  text.machine = "dgx-h100";
  text.devices = 16384;
  text.training.sequence_length = 8192;
  text.training.global_batch = 8192;
  return Question(text);
}
Strategy deep_pipeline(const Question& question) {
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 8;
  partial.strategy.sequence_parallel = SequenceParallel::on;
  partial.strategy.pipeline_stages = 16;
  partial.strategy.virtual_stages = 8;
  partial.strategy.schedule = Schedule::interleaved;
  partial.schedule_given = true;
  return completed(partial, question);
}
/// Every block of every micro-batch is gathered and reduced alongside another one.
Strategy sharded_pipeline(const Question& question) {
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 8;
  partial.strategy.sequence_parallel = SequenceParallel::on;
  partial.strategy.pipeline_stages = 4;
  partial.strategy.zero_stage = 3;
  return completed(partial, question);
}

/// Everything from the strategy on: blocks priced, lowered, checked, timed, simulated, memory.
void lowered_and_played(benchmark::State& state, Granularity granularity) {
  const Question question = llama_405b();
  const Strategy strategy = deep_pipeline(question);
  std::int64_t actions = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const SimulatedPlan plan = simulated(question, strategy, {granularity, {}, {}});
    actions += plan.simulation.actions;
    benchmark::DoNotOptimize(plan);
  }
  state.SetItemsProcessed(actions);
}
BENCHMARK_CAPTURE(lowered_and_played, by_chunk, Granularity::chunk)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lowered_and_played, by_block, Granularity::block)->Unit(benchmark::kMillisecond);

/// When gradients that are reduced once per step are: from the last backward on, or after it.
enum class Gradients : std::uint8_t { alongside, after };

/// The simulation alone, on a program that is there.
void simulated(benchmark::State& state, Strategy (*make)(const Question&), Gradients gradients, Sends sends) {
  const Question question = llama_405b();
  const Strategy strategy = make(question);
  const std::vector<BlockCost> blocks = block_costs(question, strategy);
  const StageLayout layout = layout_of(question, strategy);
  const StageTable ranks(question.graph(), layout, blocks);
  const StackCalibration& stack = question.calibration().stack;
  const PricedPlan plan{question.graph(), strategy, question.training(), stack, question.step_pricer(), ranks, blocks};
  const SizedPlan sizes = plan.sizes();
  const SegmentTable segments(sizes, Granularity::block);
  LoweringInput input = lowering_input(sizes, segments);
  if (gradients == Gradients::after)
    for (RankSizes& rank : input.ranks)
      for (ChunkSizes& chunk : rank.chunks)
        for (SegmentSizes& segment : chunk.segments) segment.reduction = Bytes(0);
  const Program program = lower(input);
  const ActionTimes times = action_times(plan, segments, program);
  TimelineOptions options;
  options.sends = sends;
  if (timeline(program, times, options).stall) return state.SkipWithError("the ranks wait for each other");
  for ([[maybe_unused]] const auto _ : state)
    benchmark::DoNotOptimize(simulate(program, times, stack.memory.fragmentation_fraction, options));
  state.SetItemsProcessed(state.iterations() * program.action_count());
}
BENCHMARK_CAPTURE(simulated, in_order, deep_pipeline, Gradients::after, Sends::in_transit)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, reduced_once, deep_pipeline, Gradients::alongside, Sends::in_transit)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, sharded, sharded_pipeline, Gradients::alongside, Sends::in_transit)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(simulated, sharded_blocking_sends, sharded_pipeline, Gradients::alongside, Sends::blocking)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline
