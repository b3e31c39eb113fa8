// What one plan costs to bound and to price, on warm tables; items are plans, so items/s is plans per second per core.
#include <benchmark/benchmark.h>

#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/search/candidates.h"

namespace plumbline {
namespace {

QuestionText gpt3_on_512(std::int64_t batch) {
  QuestionText text;
  text.model = "gpt3-175b";
  text.machine = "dgx-a100-80g";
  text.devices = 512;
  text.training.sequence_length = 2048;
  text.training.global_batch = batch;
  return text;
}

/// Memory of all stages and the least time of every plan of the space.
void bounds(benchmark::State& state) {
  const Question question(gpt3_on_512(1536));
  const CandidateTable table(question, {}, 1);
  CandidateBatch batch;
  std::int64_t plans = 0;
  for ([[maybe_unused]] const auto _ : state) {
    batch.fitting.clear();
    for (std::size_t family = 0; family < table.family_count(); ++family) {
      table.bound_family(family, batch);
      plans += table.leaves_of(family);
    }
    benchmark::DoNotOptimize(batch);
  }
  state.SetItemsProcessed(plans);
}
BENCHMARK(bounds)->Unit(benchmark::kMillisecond);

/// The exact closed form of plans of 16 stages and 128 micro-batches, one of every ZeRO stage and recompute choice.
void exact_prices(benchmark::State& state) {
  const Question question(gpt3_on_512(512));
  const CandidateTable table(question, space_from_text("pp=16,tp=8,dp=4,micro-batch=1,schedule=1f1b"), 1);
  CandidateBatch batch;
  for (std::size_t family = 0; family < table.family_count(); ++family) table.bound_family(family, batch);
  std::int64_t plans = 0;
  for ([[maybe_unused]] const auto _ : state) {
    for (const Candidate& candidate : batch.fitting) benchmark::DoNotOptimize(table.priced(candidate));
    plans += static_cast<std::int64_t>(batch.fitting.size());
  }
  state.SetItemsProcessed(plans);
}
BENCHMARK(exact_prices);

/// Interleaved plans of 16 stages, which a sweep over micro-batches times: bounds that leave the sweep out, and prices.
template <class Ask>
void interleaved(benchmark::State& state, Ask ask) {
  const Question question(gpt3_on_512(1536));
  const CandidateTable table(
      question, space_from_text("pp=16,tp=8,dp=4,micro-batch=1,schedule=interleaved,recompute=none|full"), 1);
  CandidateBatch batch;
  for (std::size_t family = 0; family < table.family_count(); ++family) table.bound_family(family, batch);
  for ([[maybe_unused]] const auto _ : state)
    for (const Candidate& candidate : batch.fitting) benchmark::DoNotOptimize(ask(table, candidate));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.fitting.size()));
}
BENCHMARK_CAPTURE(interleaved, bounds_without_sweep, [](const CandidateTable& table, const Candidate& candidate) {
  return table.tighter_bound(candidate, Tighter::without_sweep);
});
BENCHMARK_CAPTURE(interleaved, prices, [](const CandidateTable& table, const Candidate& candidate) {
  return table.priced(candidate).step_time;
});

/// Tables of a mixture's blocks over every expert parallelism and micro-batch.
void tables_of_a_mixture(benchmark::State& state) {
  QuestionText text;
  text.model = "deepseek-v2-lite";
  text.machine = "dgx-h100";
  text.devices = 64;
  text.training.global_batch = 64;
  const Question question(text);
  std::vector<Strategy> samples;
  for (const std::int64_t micro_batch : {1, 2, 4})
    for (const std::int32_t experts : {1, 2, 4, 8, 16, 32, 64}) {
      Strategy& sample = samples.emplace_back();
      sample.data_parallel = 64;
      sample.expert_parallel = experts;
      sample.micro_batch = micro_batch;
    }
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(BlockTables().of(question, samples, 1, {}));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(samples.size()));
}
BENCHMARK(tables_of_a_mixture)->Unit(benchmark::kMillisecond);

/// Legal families found, their blocks and layouts priced: what a search does before its first plan.
void warm_tables(benchmark::State& state) {
  const Question question(gpt3_on_512(1536));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(CandidateTable(question, {}, 1));
}
BENCHMARK(warm_tables)->Unit(benchmark::kMillisecond);

/// One plan in full, as `fit` and `estimate` answer.
void whole_answer(benchmark::State& state) {
  const Question question(gpt3_on_512(1536));
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 8;
  partial.strategy.pipeline_stages = 16;
  const Strategy strategy = completed(partial, question);
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(evaluate(question, strategy));
}
BENCHMARK(whole_answer)->Unit(benchmark::kMicrosecond);

void question_from_text(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(Question(gpt3_on_512(1536)));
}
BENCHMARK(question_from_text)->Unit(benchmark::kMicrosecond);

void network_by_name(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(find_network("llama-3.1-405b"));
}
BENCHMARK(network_by_name)->Unit(benchmark::kMicrosecond);

void network_by_alias(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(find_network("meta-llama/Meta-Llama-3.1-405B"));
}
BENCHMARK(network_by_alias)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plumbline
