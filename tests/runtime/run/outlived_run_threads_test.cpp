// A rank that hangs outlives its run, and what it reads lives as long.
#include <atomic>
#include <thread>

#include "tests/execution_checks.h"

namespace plumbline {
namespace {

/// One of two ranks waits before its first action until it is let go.
struct HoldsOneRank : RunObserver {
  void on_place(const DescribePlace&) override {
    if (held_one.exchange(true)) return;
    while (!let_go) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::atomic<bool> held_one = false;
  std::atomic<bool> let_go = false;
};

struct OwnedRun {
  LoweredPlan plan{network(Net::gpt),
                   [] {
                     Strategy s = single();
                     s.micro_batches = 2;
                     s.data_parallel = 2;
                     return s;
                   }(),
                   recipe()};
  TrainingJob job = plan.job();
  HoldsOneRank observer;
  RunOptions asked = options(2);
};

}  // namespace

TEST_CASE("what a hanging rank reads lives until its thread ends") {
  auto run = std::make_shared<OwnedRun>();
  run->asked.observer = &run->observer;
  run->asked.ranks.deadline = std::chrono::milliseconds(200);
  CHECK_THROWS_AS(train(run->job, run->asked, run), RunFailure);
  HoldsOneRank& observer = run->observer;
  const std::weak_ptr<OwnedRun> watched = run;
  run.reset();
  REQUIRE_FALSE(watched.expired());
  observer.let_go = true;
  for (int look = 0; look < 2000 && !watched.expired(); ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(watched.expired());
}

}  // namespace plumbline
