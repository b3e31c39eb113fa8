// Whole searches, from the question to the ranked plans, on two threads. `peak_mib`: most memory that the process held.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "planner/search/search.h"

namespace plumbline {
namespace {

QuestionText asked(const char* model, const char* machine, std::int64_t devices, std::int64_t sequence,
                   std::int64_t batch) {
  QuestionText text;
  text.model = model;
  text.machine = machine;
  text.devices = devices;
  text.training.sequence_length = sequence;
  text.training.global_batch = batch;
  return text;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void whole_search(benchmark::State& state, const QuestionText& text, bool pareto) {
  SearchOptions options;
  options.threads = 2;
  options.pareto = pareto;
  SearchAudit audit;
  for ([[maybe_unused]] const auto _ : state) {
    const std::vector<Question> questions = search_questions(text, {text.training.precision}, Objective::step_time);
    audit = search(questions, {}, options).audit;
  }
  state.counters["plans"] = static_cast<double>(audit.total);
  state.counters["priced"] = static_cast<double>(audit.solved);
  state.counters["peak_mib"] = peak_mib();
}

const QuestionText gpt3 = asked("gpt3-175b", "dgx-a100-80g", 512, 2048, 1536);
const QuestionText llama = asked("llama-3.1-405b", "dgx-h100", 16384, 8192, 2048);
BENCHMARK_CAPTURE(whole_search, gpt3_175b_on_512_a100, gpt3, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(whole_search, gpt3_175b_on_512_a100_pareto, gpt3, true)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(whole_search, llama_405b_on_16384_h100, llama, false)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace plumbline
