// Runs that are asked to end.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "runtime/checkpoint/checkpoint.h"
#include "tests/execution_checks.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

RunOptions evaluated_every_other_step(const std::filesystem::path& folder, std::int64_t steps) {
  RunOptions o = options(steps);
  o.data.held_out = 440;
  o.evaluation.every = 2;
  o.evaluation.patience = 3;
  o.checkpoints.folder = folder;
  return o;
}

/// Of one rank.
struct StopsBehindSecondStep : RunObserver {
  int stop_signal() override { return ++steps == 2 ? SIGTERM : 0; }
  void on_stop(int signal) override { heard = signal; }
  std::int64_t steps = 0;
  int heard = 0;
};

std::string manifest_of_latest(const std::filesystem::path& folder) {
  const std::optional<std::filesystem::path> latest = latest_checkpoint(folder);
  REQUIRE(latest);
  std::ifstream file(*latest / "manifest.json");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a run that is asked to end behind a step with an evaluation goes on as if nobody had asked") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe(Optimizer::adamw));
  const TemporaryFolder whole;
  const TemporaryFolder parts;
  (void)train(plan.job(), evaluated_every_other_step(whole.path(), 4));

  RunOptions asked = evaluated_every_other_step(parts.path(), 4);
  StopsBehindSecondStep observer;
  asked.observer = &observer;
  const RunRecord first = train(plan.job(), asked);
  CHECK(observer.heard == SIGTERM);
  REQUIRE(first.steps.size() == 2);
  CHECK(first.steps.back().held_out_loss.has_value());

  RunOptions rest = evaluated_every_other_step(parts.path(), 2);
  rest.checkpoints.resume = parts.path();
  (void)train(plan.job(), rest);
  CHECK(manifest_of_latest(parts.path()) == manifest_of_latest(whole.path()));
}

}  // namespace plumbline
