// Whole searches, from the question to the ranked plans, on two threads. `peak_mib`: most memory that the process held.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "planner/search/search.h"

namespace plumbline {
namespace {

QuestionText gpt3_on_512_a100() {
  QuestionText text;
  text.model = "gpt3-175b";
  text.machine = "dgx-a100-80g";
  text.devices = 512;
  text.training.sequence_length = 2048;
  text.training.global_batch = 1536;
  return text;
}

QuestionText llama_on_16384_h100() {
  QuestionText text;
  text.model = "llama-3.1-405b";
  text.machine = "dgx-h100";
  text.devices = 16384;
  text.training.sequence_length = 8192;
  text.training.global_batch = 2048;
  return text;
}

/// Every layer without FlashAttention has hundreds of ways to recompute.
QuestionText llama_on_64_h100() {
  QuestionText text;
  text.model = "llama-3-70b";
  text.machine = "dgx-h100";
  text.devices = 64;
  text.training.sequence_length = 4096;
  text.training.global_batch = 512;
  return text;
}
SearchSpace without_flash_attention() {
  SearchSpace space;
  space.flash_attention = {FlashAttention::off};
  return space;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void whole_search(benchmark::State& state, const QuestionText& text, bool pareto, const SearchSpace& space = {}) {
  SearchOptions options;
  options.threads = 2;
  options.pareto = pareto;
  SearchAudit audit;
  for ([[maybe_unused]] const auto _ : state) {
    const std::vector<Question> questions = search_questions(text, {text.training.precision}, Objective::step_time);
    audit = search(questions, space, options).audit;
  }
  state.counters["plans"] = static_cast<double>(audit.total);
  state.counters["priced"] = static_cast<double>(audit.solved);
  state.counters["peak_mib"] = peak_mib();
}

BENCHMARK_CAPTURE(whole_search, gpt3_175b_on_512_a100, gpt3_on_512_a100(), false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_search, gpt3_175b_on_512_a100_with_front, gpt3_on_512_a100(), true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_search, llama_405b_on_16384_h100, llama_on_16384_h100(), false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(whole_search, llama_70b_on_64_h100_without_flash_attention, llama_on_64_h100(), false,
                  without_flash_attention())
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace plumbline
