#include "planner/explain/sensitivity.h"

#include <cmath>

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Question question_on(const std::string& machine) {
  QuestionText text;
  text.model = "llama-2-7b";
  text.machine = machine;
  text.devices = 8;
  text.stack = "megatron-core-0.12";
  text.training.sequence_length = 2048;
  text.training.global_batch = 16;
  return Question(text);
}

Strategy sharded(const Question& question) {
  PartialStrategy partial;
  partial.strategy.zero_stage = 3;
  return completed(partial, question);
}

}  // namespace

TEST_CASE("an assumed number matters by as much as the price moves when it does") {
  const Question question = question_on("dgx-h100");
  const Strategy strategy = sharded(question);
  const auto found = assumed_numbers_that_matter(question, strategy);
  const auto fragmentation = std::find_if(found.begin(), found.end(), [](const Sensitivity& s) {
    return s.number.name == "megatron-core-0.12 fragmentation_fraction";
  });
  REQUIRE(fragmentation != found.end());
  Calibration moved = question.calibration();
  moved.stack.memory.fragmentation_fraction.value *= 1 + moved.stack.memory.fragmentation_fraction.relative_sigma;
  const double before = static_cast<double>(evaluate(question, strategy).prediction.peak_memory.value());
  const double after =
      static_cast<double>(evaluate(question.with_calibration(moved), strategy).prediction.peak_memory.value());
  CHECK(fragmentation->peak_memory == Approx(after / before - 1));
  CHECK(fragmentation->step_time == 0);
}

TEST_CASE("the largest effect comes first, and nothing that was measured or fitted is listed") {
  const Question question = question_on("l40s-pcie");
  const auto found = assumed_numbers_that_matter(question, sharded(question));
  REQUIRE_FALSE(found.empty());
  const auto strength = [](const Sensitivity& s) { return std::max(std::fabs(s.step_time), std::fabs(s.peak_memory)); };
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(strength(found[i]) <= strength(found[i - 1]));
  for (const Sensitivity& s : found) CHECK(s.number.name != "megatron-core-0.12 step_factor");
}

}  // namespace plumbline
