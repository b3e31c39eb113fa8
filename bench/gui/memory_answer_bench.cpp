// A slider of the memory page: Llama-3 405B on 16 384 GPUs. Aim: below 100 ms.
#include <benchmark/benchmark.h>

#include "gui/pages/memory/memory_data.h"

namespace plumbline::gui {
namespace {

SharedPlan large_plan() {
  session::StrategyRequest request;
  request.question.model = "llama-3.1-405b";
  request.question.machine = "dgx-h100";
  request.question.devices = 16384;
  request.question.training.sequence_length = 8192;
  request.question.training.global_batch = 8192;
  Strategy& strategy = request.strategy.strategy;
  strategy.tensor_parallel = 8;
  strategy.sequence_parallel = SequenceParallel::on;
  strategy.pipeline_stages = 16;
  strategy.virtual_stages = 8;
  strategy.schedule = Schedule::interleaved;
  request.strategy.schedule_given = true;
  return std::make_shared<PricedPlan>(PricedPlan{request, session::estimate(request)});
}

void slider(benchmark::State& state, void (*move)(MemoryKnobs&)) {
  const SharedPlan plan = large_plan();
  MemoryKnobs knobs = knobs_of(plan->answer.strategy);
  move(knobs);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(memory_data(plan, knobs));
}
BENCHMARK_CAPTURE(slider, micro_batch, [](MemoryKnobs& knobs) {
  knobs.micro_batch = 2;
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(slider, recompute, [](MemoryKnobs& knobs) {
  knobs.recompute = {RecomputeMode::full};
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(slider, zero, [](MemoryKnobs& knobs) { knobs.zero_stage = 1; })->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(slider, tensor_parallel, [](MemoryKnobs& knobs) {
  knobs.tensor_parallel = 4;
})->Unit(benchmark::kMillisecond);

/// The areas down to layers, which follow the bars.
void layers(benchmark::State& state) {
  const SharedPlan plan = large_plan();
  const SharedMemory memory = memory_data(plan, knobs_of(plan->answer.strategy));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(memory_trees(*memory));
}
BENCHMARK(layers)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline::gui
