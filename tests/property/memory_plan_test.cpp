// Memory plans of lowered programs of real networks: no overlap, and how far the arenas are from the peak of live
// bytes.

#include "runtime/memory_plan/memory_plan.h"

#include <random>

#include "core/simulate/memory_curve.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/memory_plan_overlap.h"
#include "tests/program_lives.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

/// How much larger arenas are than the most bytes that live in them.
struct Excess {
  std::vector<double> ratios;
  std::size_t most_lives = 0;

  void add(const RankProgram& rank) {
    MemoryBreakdown most;
    for (const MemoryPoint& point : memory_curve(rank))
      for (std::size_t c = 0; c < memory_class_count; ++c)
        most.by_class[c] = std::max(most.by_class[c], point.memory.by_class[c]);
    LivesByClass by_class = program_lives(rank);
    for (auto& [memory_class, lives] : by_class) {
      const Bytes peak = live_peak(lives);
      REQUIRE(peak == most[memory_class]);  // the curve is another walk over the program
      const Bytes size = place_lives(lives, default_alignment);
      REQUIRE(size >= peak);
      REQUIRE_FALSE(has_overlap(lives, size));
      for (const BufferLife& life : lives) REQUIRE(life.offset.value() % default_alignment.value() == 0);
      most_lives = std::max(most_lives, lives.size());
      if (peak > Bytes(0)) ratios.push_back(size / peak - 1);
    }
  }
};

TEST_CASE("Arenas of lowered programs hold every life, and little more than the peak of live bytes") {
  std::mt19937_64 bits(20261121);
  Excess excess;
  for (const auto& [model, machine, devices] :
       {std::tuple{"llama-3-8b", "dgx-h100", 16}, std::tuple{"gpt2-xl", "dgx-a100-80g", 8},
        std::tuple{"mixtral-8x7b", "dgx-h100", 32}}) {
    const Question question = question_of(model, machine, devices, 2048, 64);
    const std::vector<Strategy> plans = legal_plans(question);
    for (int n = 0; n < 30; ++n)
      for (const Granularity granularity : {Granularity::chunk, Granularity::block}) {
        const SimulatedPlan plan = simulated(question, plans[bits() % plans.size()], {granularity, {}, {}});
        for (const RankProgram& rank : plan.program.ranks) excess.add(rank);
      }
  }
  std::sort(excess.ratios.begin(), excess.ratios.end());
  const double worst = excess.ratios.back();
  const double most = excess.ratios[excess.ratios.size() * 99 / 100];
  WARN("arena over peak of live bytes: " << excess.ratios.size() << " arenas of up to " << excess.most_lives
                                         << " lives, median " << 100 * excess.ratios[excess.ratios.size() / 2]
                                         << " %, 99 of 100 within " << 100 * most << " %, worst " << 100 * worst
                                         << " %");
  CHECK(most < 0.01);
  CHECK(worst < 0.25);
}

}  // namespace
}  // namespace plumbline
