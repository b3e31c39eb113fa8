// How fast stages are split and recompute is placed.
#include <benchmark/benchmark.h>

#include <limits>

#include "planner/checkpointing/block_frontier.h"
#include "planner/checkpointing/placement.h"
#include "planner/partition/balanced_split.h"
#include "planner/pricing/priced.h"

namespace plumbline {
namespace {

/// Equal layers, a heavier head.
StagePrices equal_layers(std::int32_t layers, std::int32_t stages) {
  StagePrices prices(stages, layers);
  for (std::int32_t s = 0; s < stages; ++s)
    for (std::int32_t first = 0; first < layers; ++first)
      for (std::int32_t last = first + 1; last <= layers; ++last) {
        const std::int64_t forward = 1'000'000 * (last - first) + (s + 1 == stages ? 700'000 : 0);
        prices.set(s, first, last, {Picoseconds(forward), Picoseconds(2 * forward)});
      }
  return prices;
}

void split_by_threshold(benchmark::State& state) {
  const StagePrices prices =
      equal_layers(static_cast<std::int32_t>(state.range(0)), static_cast<std::int32_t>(state.range(1)));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(sum_and_max_partition(prices, 64));
}
BENCHMARK(split_by_threshold)->Args({96, 16})->Args({126, 16})->Args({128, 32});

void split_by_makespan(benchmark::State& state) {
  const auto stages = static_cast<std::int32_t>(state.range(1));
  const StagePrices prices = equal_layers(static_cast<std::int32_t>(state.range(0)), stages);
  const std::vector<Picoseconds> latency(static_cast<std::size_t>(stages - 1), Picoseconds(10'000));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(one_f_one_b_partition(prices, latency, 64));
}
BENCHMARK(split_by_makespan)->Args({32, 4})->Args({96, 16})->Args({126, 16});

Question question_of(const char* model, std::int64_t devices) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-h100";
  text.devices = devices;
  text.training.sequence_length = 4096;
  text.training.global_batch = 1024;
  return Question(text);
}
Strategy strategy_of(std::int32_t tp, std::int32_t pp, std::int32_t dp) {
  Strategy s;
  s.tensor_parallel = tp;
  s.sequence_parallel = tp > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.pipeline_stages = pp;
  s.data_parallel = dp;
  s.micro_batches = 1024 / dp;
  s.zero_stage = dp > 1 ? 1 : 0;
  s.shard_group = dp;
  s.schedule = pp > 1 ? Schedule::one_f_one_b : Schedule::none;
  return s;
}

RecomputeProblem problem_of(const Question& q, const Strategy& s) {
  for (const Block& block : q.graph().blocks())
    if (block.kind() == BlockKind::layer && block.name() != "layer_dense")
      return recompute_problem(block, shard_of(s, q.training()), block_groups(s), q.block_pricer());
  return {};
}

std::vector<RecomputeChoice> choices_of(const RecomputeProblem& problem, Restored restored) {
  return *block_choices_up_to(problem, restored, std::numeric_limits<std::size_t>::max());
}

void frontier_of(benchmark::State& state, const char* model) {
  const Question q = question_of(model, 8);
  Strategy s = strategy_of(1, 1, 8);
  s.flash_attention = FlashAttention::off;
  const RecomputeProblem problem = problem_of(q, s);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(choices_of(problem, Restored::counted));
  state.counters["choices"] = static_cast<double>(choices_of(problem, Restored::counted).size());
  state.counters["frontier"] = static_cast<double>(choices_of(problem, Restored::ignored).size());
}
BENCHMARK_CAPTURE(frontier_of, gpt3, "gpt3-175b");
BENCHMARK_CAPTURE(frontier_of, llama3, "llama-3-8b");
BENCHMARK_CAPTURE(frontier_of, deepseek_v3, "deepseek-v3");

void corners_of(benchmark::State& state, const char* model) {
  const Question q = question_of(model, 8);
  Strategy s = strategy_of(1, 1, 8);
  s.flash_attention = FlashAttention::off;
  const RecomputeProblem problem = problem_of(q, s);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(frontier_hull(problem));
}
BENCHMARK_CAPTURE(corners_of, gpt3, "gpt3-175b");

void prepare_placer(benchmark::State& state) {
  const Question q = question_of("llama-3-405b", 1024);
  Strategy s = strategy_of(8, 16, 8);
  s.recompute = {RecomputeMode::placed, 1};
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(block_costs(q, s));
}
BENCHMARK(prepare_placer);

void place_on_fixed_split(benchmark::State& state) {
  const Question q = question_of("llama-3-405b", 1024);
  Strategy s = strategy_of(8, 16, 8);
  s.micro_batch = state.range(0);
  s.micro_batches /= state.range(0);
  s.recompute = {RecomputeMode::placed, 1};
  const std::vector<BlockCost> blocks = block_costs(q, s);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(layout_of(q, s, blocks));
}
BENCHMARK(place_on_fixed_split)->Arg(1)->Arg(2)->Arg(4);

void place_with_split(benchmark::State& state) {
  const Question q = question_of("llama-3-405b", 1024);
  Strategy s = strategy_of(8, 16, 8);
  s.micro_batch = state.range(0);
  s.micro_batches /= state.range(0);
  s.recompute = {RecomputeMode::placed, 1};
  const std::vector<BlockCost> blocks = block_costs(q, s);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(balanced_split(q, s, blocks));
}
BENCHMARK(place_with_split)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline
