// What `plan fit --import` takes on a pasted Megatron-LM command that does not fit: reading it, pricing it, and looking
// for changes. Aim: under 50 ms together, the catalogue's files included once.
#include <benchmark/benchmark.h>

#include "core/io/json.h"
#include "core/io/json_file.h"
#include "planner/session/export/own_settings.h"
#include "planner/session/fit/fit.h"
#include "planner/session/import/import.h"

namespace plumbline {
namespace {

session::ImportRequest pasted(const std::string& name) {
  const std::string path = std::string(PLUMBLINE_SOURCE_DIR) + "/tests/data/launch/megatron-lm/" + name + ".sh";
  session::ImportRequest request;
  request.files = {{name + ".sh", read_text_file(path, "a launch script")}};
  request.from = "megatron-lm";
  request.question.machine = "dgx-a100-40g";
  request.question.devices = 8;
  return request;
}

void import_command(benchmark::State& state) {
  const session::ImportRequest request = pasted("llama2-70b");
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(session::import_files(request));
}
BENCHMARK(import_command)->Unit(benchmark::kMillisecond);

/// As the command does, changes in the framework's own flags included.
void fit_import(benchmark::State& state) {
  const session::ImportRequest request = pasted("llama2-70b");
  for ([[maybe_unused]] const auto _ : state) {
    const auto asked = session::estimate(session::strategy_request(request, session::import_files(request)));
    const session::FitAnswer answer = session::fit(asked, {}, {Framework::megatron_lm});
    for (const Change& change : answer.changes)
      benchmark::DoNotOptimize(session::own_settings(asked, asked.strategy, change.strategy, Framework::megatron_lm));
  }
}
BENCHMARK(fit_import)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline
