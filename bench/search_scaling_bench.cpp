// How the time of a whole search on one core grows with the number of GPUs (scripts/plot_search_scaling.sh draws it).
#include <benchmark/benchmark.h>

#include "planner/search/search.h"

namespace plumbline {
namespace {

/// One sequence per GPU, but at least 2048: every data-parallel degree divides the batch.
void searched(benchmark::State& state, const char* model) {
  QuestionText text;
  text.model = model;
  text.machine = "dgx-h100";
  text.devices = state.range(0);
  text.training.sequence_length = 8192;
  text.training.global_batch = std::max<std::int64_t>(2048, text.devices);
  SearchOptions options;
  options.threads = 1;
  SearchResult result;
  for ([[maybe_unused]] const auto _ : state)
    result = search(search_questions(text, {text.training.precision}, options.objective), {}, options);
  state.counters["plans"] = static_cast<double>(result.audit.total);
  state.counters["fitting"] = static_cast<double>(result.audit.bound + result.audit.dominated + result.audit.solved);
  state.counters["priced"] = static_cast<double>(result.audit.solved);
}
void llama_405b(benchmark::State& state) { searched(state, "llama-3.1-405b"); }
void llama_8b(benchmark::State& state) { searched(state, "llama-3-8b"); }
BENCHMARK(llama_405b)->RangeMultiplier(2)->Range(8, 131072)->Unit(benchmark::kMillisecond);
BENCHMARK(llama_8b)->RangeMultiplier(2)->Range(8, 131072)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline
