// Chain checkpointing of random chains: schedules replayed on the machine, persistent against unrestricted.

#include "planner/checkpointing/chain.h"

#include <random>

#include "tests/catch.h"

namespace plumbline {
namespace {

Chain random_chain(std::mt19937& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  const auto n = static_cast<std::size_t>(1 + below(5));
  Chain chain;
  for (std::size_t i = 0; i <= n; ++i) chain.values.push_back(i == n ? 0 : 1 + below(4));
  chain.gradients = chain.values;
  for (std::size_t i = 1; i <= n; ++i)
    chain.stages.push_back(
        {Picoseconds(1 + below(8)), Picoseconds(1 + below(15)), chain.values[i] + below(7), below(2), below(2)});
  return chain;
}

/// Runs a schedule: what is held never exceeds `memory`, nothing is read that is not held; returns its time.
std::int64_t replay(const Chain& chain, const ChainSchedule& schedule, std::int64_t memory) {
  const auto n = static_cast<std::int32_t>(chain.stages.size());
  std::set<std::int32_t> values{0};
  std::set<std::int32_t> saved;
  std::set<std::int32_t> checkpoints{0};
  std::int32_t gradient = n;
  std::int64_t time = 0;
  const auto holds = [&](std::int32_t i) { return values.contains(i) || saved.contains(i); };
  const auto held = [&] {
    std::int64_t sum = chain.gradients[static_cast<std::size_t>(gradient)];
    for (const std::int32_t v : values) sum += chain.values[static_cast<std::size_t>(v)];
    for (const std::int32_t v : saved) sum += chain.stages[static_cast<std::size_t>(v - 1)].saved;
    return sum;
  };
  for (const ChainStep& step : schedule.steps) {
    const std::int32_t i = step.stage;
    const ChainStage& stage = chain.stages[static_cast<std::size_t>(i - 1)];
    REQUIRE(holds(i - 1));
    if (step.action == ChainAction::backward) {
      REQUIRE(gradient == i);
      REQUIRE(saved.contains(i));
      REQUIRE(held() + chain.gradients[static_cast<std::size_t>(i - 1)] + stage.backward_overhead <= memory);
      saved.erase(i);
      gradient = i - 1;
      if (i > 1) {
        values.erase(i - 1);
        checkpoints.erase(i - 1);
      }
      time += stage.backward.value();
      continue;
    }
    const bool saves = step.action == ChainAction::forward_save;
    REQUIRE(held() + (saves ? stage.saved : chain.values[static_cast<std::size_t>(i)]) + stage.forward_overhead <=
            memory);
    if (!saves) values.insert(i);
    if (saves) saved.insert(i);
    if (step.action == ChainAction::forward_keep) checkpoints.insert(i);
    if (!saves && !checkpoints.contains(i - 1)) values.erase(i - 1);
    time += stage.forward.value();
  }
  REQUIRE(gradient == 0);
  return time;
}

TEST_CASE("schedules of random chains run within their memory and take the time they say") {
  std::mt19937 random(17);
  for (int i = 0; i < 150; ++i) {
    const Chain chain = random_chain(random);
    std::optional<Picoseconds> before;
    for (std::int64_t memory = 4; memory < 40; memory += 3) {
      const auto schedule = persistent_schedule(chain, memory);
      const auto unrestricted = unrestricted_time(chain, memory);
      INFO("chain " << i << ", memory " << memory);
      if (!schedule) {
        CHECK_FALSE(before);  // more memory never makes it impossible
        continue;
      }
      REQUIRE(replay(chain, *schedule, memory) == schedule->time.value());
      REQUIRE(unrestricted);
      CHECK(*unrestricted <= schedule->time);
      if (before) CHECK(schedule->time <= *before);
      before = schedule->time;
    }
  }
}

TEST_CASE("rounding sizes up and down encloses the exact time") {
  std::mt19937 random(19);
  for (int i = 0; i < 60; ++i) {
    Chain chain = random_chain(random);
    const std::int64_t memory = 30;
    const auto exact = persistent_schedule(chain, memory);
    const auto above = persistent_schedule(in_slots(chain, 2, Rounding::up), memory / 2);
    const auto below = persistent_schedule(in_slots(chain, 2, Rounding::down), memory / 2);
    if (above) {
      REQUIRE(exact);
      CHECK(exact->time <= above->time);
    }
    if (exact) {
      REQUIRE(below);
      CHECK(below->time <= exact->time);
    }
  }
}

}  // namespace
}  // namespace plumbline
