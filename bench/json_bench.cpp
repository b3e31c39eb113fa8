// How fast plans and catalogues are read and written.
#include <benchmark/benchmark.h>

#include <string>

#include "core/io/json.h"

namespace plumbline {
namespace {

std::string document(std::int64_t stages) {
  Json::Array array;
  for (std::int64_t i = 0; i < stages; ++i)
    array.emplace_back(
        Json::Object{{"stage", i}, {"peak_memory_bytes", i << 30}, {"time_s", 0.125 * static_cast<double>(i)}});
  return to_json_text(Json::Object{{"stages", std::move(array)}});
}

void read_json(benchmark::State& state) {
  const std::string text = document(state.range(0));
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(parse_json(text, "bench"));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_json)->Arg(16)->Arg(16384);

void write_json(benchmark::State& state) {
  const Json value = parse_json(document(state.range(0)), "bench");
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(to_json_text(value));
}
BENCHMARK(write_json)->Arg(16)->Arg(16384);

}  // namespace
}  // namespace plumbline
