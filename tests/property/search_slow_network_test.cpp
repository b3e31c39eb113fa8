// On a slow network what a search finds is not beaten by plans of its space that are drawn and simulated.

#include <random>

#include "planner/pricing/evaluate.h"
#include "planner/pricing/simulated.h"
#include "planner/search/search.h"
#include "tests/catch.h"
#include "tests/changed_machine.h"
#include "tests/questions.h"

namespace plumbline::search_slow_network_test {
namespace {

struct Asked {
  double gigabits;
  std::int64_t devices;
  std::int64_t batch;
};

Question over_one_card(const Asked& asked) {
  const ChangedMachine slow([&](Node& node) {
    node.network->count = 1;
    node.network->bandwidth.value = BytesPerSecond(asked.gigabits / 8 * 1e9);
  });
  return Question(slow.of(question_text("llama-2-13b", "dgx-a100-40g", asked.devices, 4096, asked.batch)));
}

Picoseconds simulated_step(const Question& question, const Strategy& strategy) {
  return simulated(question, strategy).simulation.step();
}

TEST_CASE("no drawn plan beats the search on a slow network, simulated") {
  const Asked asked = GENERATE(Asked{10, 32, 64}, Asked{10, 24, 72}, Asked{25, 40, 60}, Asked{100, 32, 64});
  const Question question = over_one_card(asked);
  const SearchResult found = search({question}, SearchSpace{}, SearchOptions{});
  REQUIRE(!found.best.empty());
  const Picoseconds best = simulated_step(question, found.best.front().strategy);
  INFO(to_text(found.best.front().strategy) << " on " << asked.devices << " devices, " << asked.gigabits << " Gb/s");
  const std::vector<Strategy> all = legal_plans(question);
  std::mt19937_64 bits(20261128);
  int compared = 0;
  for (int n = 0; n < 400; ++n) {
    const Strategy& drawn = all[bits() % all.size()];
    const Plan plan = evaluate(question, drawn);
    if (plan.prediction.peak_memory > question.capacity()) continue;
    INFO(to_text(drawn));
    CHECK(simulated_step(question, drawn) >= best);
    ++compared;
  }
  CHECK(compared > 100);
}

}  // namespace
}  // namespace plumbline::search_slow_network_test
