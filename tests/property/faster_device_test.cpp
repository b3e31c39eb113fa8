// A device that computes faster never makes a step longer, but for schedules that split the backward: there by no
// larger a factor than a host that is late lengthens one of its passes.

#include "core/plan/pipeline_schedule.h"
#include "planner/question/priced.h"
#include "tests/catch.h"
#include "tests/changed_machine.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

struct Priced {
  Picoseconds step{0};
  std::vector<RankTimes> stages;
};

Priced priced(const Question& question, const Strategy& s) {
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const StageLayout layout = layout_of(question, s, blocks);
  const StageTable stages(question.graph(), layout, blocks);
  const StepPricer& pricer = question.step_pricer();
  Priced result{pricer.price(stages, s).total(), {}};
  for (std::int32_t i = 0; i < s.chunks(); ++i) {
    const auto rank = static_cast<std::size_t>(rank_of_stage(placement(s.schedule), s.pipeline_stages, i));
    result.stages.push_back(pricer.stage_times(stages.stage(static_cast<std::size_t>(i)), stages[rank],
                                               pricer.sharing_times(stages[rank], s), s));
  }
  return result;
}

/// Where the host launches more slowly than the device computes, both passes take as long as launching them. Weight
/// gradients count with what the device takes, and all waiting for the host with the input gradients before them
/// (StageCost::host_waits): a faster device moves time from the first to the second, which other ranks wait for. An
/// order played with every time longer by a factor takes longer by that factor, so that a step with some times longer
/// and none by more takes no longer than that: 1 where no pass is longer.
double longest_pass(const Priced& faster, const Priced& slower) {
  double most = 1;
  for (std::size_t stage = 0; stage < slower.stages.size(); ++stage)
    for (const auto pass :
         {&RankTimes::forward, &RankTimes::backward, &RankTimes::backward_input, &RankTimes::backward_weight})
      most = std::max(most, faster.stages[stage].*pass / slower.stages[stage].*pass);
  return most;
}

void double_the_compute(std::uint64_t seed, int questions) {
  const ChangedMachine doubled([](Node& node) {
    for (auto& [format, peak] : node.device.peaks) peak.value = 2.0 * peak.value;
  });
  RandomQuestions random(seed);
  double worst = 0;
  int split = 0;
  int moved = 0;
  for (int n = 0; n < questions; ++n) {
    const auto [question, s] = random.next();
    const Question faster(doubled.of(question.text()));
    INFO(question.text().model << " on " << question.text().machine << ", sequence "
                               << question.training().sequence_length << ": " << to_text(s));
    const Priced before = priced(question, s);
    const Priced after = priced(faster, s);
    const double longer = after.step / before.step - 1;
    const double bound = splits_backward(s.schedule) ? longest_pass(after, before) - 1 : 0;
    CHECK(longer <= bound + 1e-9);
    if (!splits_backward(s.schedule)) continue;
    ++split;
    if (bound > 0) ++moved;
    worst = std::max(worst, longer);
  }
  WARN("twice the FLOP/s lengthened passes of "
       << moved << " of " << split << " steps with split backwards, and one step by " << 100 * worst << " %");
  CHECK(split > questions / 5);
  CHECK(moved < split);
}

TEST_CASE("twice the FLOP/s lengthens no step, but with split backwards by what a late host lengthens a pass") {
  double_the_compute(20261123, 200);
}
TEST_CASE("twice the FLOP/s never lengthens a step over five thousand questions", "[long]") {
  double_the_compute(23, 5000);
}

}  // namespace
}  // namespace plumbline
