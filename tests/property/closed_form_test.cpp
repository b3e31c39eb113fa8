// How far the closed form is from the simulation over random questions of any degrees, recompute modes and stacks.

#include <algorithm>
#include <map>
#include <sstream>

#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

/// Largest difference of the simulation from the closed form, either way, as a fraction of it: what docs/simulate.md
/// says was measured over four thousand questions, with room for what others would find.
double most_difference(Schedule schedule) { return schedule == Schedule::none ? 0.01 : 0.20; }
constexpr double most_of_99_in_100 = 0.08;

void hold_closed_form_against_simulation(std::uint64_t seed, int questions) {
  constexpr std::array modes{Recompute{},
                             Recompute{RecomputeMode::selective, 1},
                             Recompute{RecomputeMode::full, 1},
                             Recompute{RecomputeMode::every_nth, 3},
                             Recompute{RecomputeMode::uniform, 2},
                             Recompute{RecomputeMode::block, 1},
                             Recompute{RecomputeMode::square_root},
                             Recompute{RecomputeMode::by_operator, 1},
                             Recompute{RecomputeMode::offloaded, 1},
                             Recompute{RecomputeMode::offloaded, 5}};
  constexpr std::array stacks{"", "torchtitan-2024.12-eager", "megatron-lm-2021", "deepspeed-2021"};
  RandomQuestions random(seed);
  struct Worst {
    double difference = 0;
    std::string question;
    std::vector<double> all;
  };
  std::map<Schedule, Worst> worst;
  std::vector<double> all;
  for (int n = 0; n < questions; ++n) {
    auto [any, s] = random.next();
    s.recompute = random.one_of(modes);
    QuestionText text = any.text();
    text.stack = random.one_of(stacks);
    const Question question(text);
    const std::vector<BlockCost> blocks = block_costs(question, s);
    const StageLayout layout = layout_of(question, s, blocks);
    const Picoseconds closed = question.step_pricer().price(StageTable(question.graph(), layout, blocks), s).total();
    const Picoseconds simulated = plumbline::simulated(question, s).simulation.step();
    const double difference = simulated / closed - 1;
    Worst& of_schedule = worst[s.schedule];
    of_schedule.all.push_back(std::abs(difference));
    all.push_back(std::abs(difference));
    std::ostringstream words;
    words << text.model << " on " << text.devices << " of " << text.machine << ", sequence "
          << text.training.sequence_length << ", batch " << text.training.global_batch << ", stack "
          << (text.stack.empty() ? "default" : text.stack) << ": " << to_text(s);
    INFO(words.str());
    CHECK(std::abs(difference) <= most_difference(s.schedule));
    if (std::abs(difference) > std::abs(of_schedule.difference)) {
      of_schedule.difference = difference;
      of_schedule.question = words.str();
    }
  }
  std::ostringstream report;
  for (auto& [schedule, of_schedule] : worst) {
    std::sort(of_schedule.all.begin(), of_schedule.all.end());
    report << "  " << to_text(schedule) << ": " << of_schedule.all.size() << ", median "
           << 100 * of_schedule.all[of_schedule.all.size() / 2] << " %, 99 of 100 within "
           << 100 * of_schedule.all[of_schedule.all.size() * 99 / 100] << " %, worst " << 100 * of_schedule.difference
           << " % (" << of_schedule.question << ")\n";
  }
  std::sort(all.begin(), all.end());
  CHECK(all[all.size() * 99 / 100] <= most_of_99_in_100);
  WARN("simulated against closed form over any degrees:\n" << report.str());
}

TEST_CASE("the closed form is near the simulation over questions of any degrees") {
  hold_closed_form_against_simulation(20261123, 400);
}
TEST_CASE("the closed form is near the simulation over four thousand questions of any degrees", "[long]") {
  hold_closed_form_against_simulation(17, 4'000);
}

}  // namespace
}  // namespace plumbline
