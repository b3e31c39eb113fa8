// Other choices for a plan: what the command line would answer for the same flags.
#include "gui/pages/memory/memory_knobs.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

TEST_CASE("a plan with other choices is what an estimate of them says") {
  const SharedPlan plan = priced(pipelined());
  MemoryKnobs knobs = knobs_of(plan->answer.strategy);
  knobs.micro_batch = 2;
  knobs.recompute = {RecomputeMode::full};
  const Plan changed = plan_at(plan->answer, knobs);
  AskedPlan same = pipelined();
  same.strategy.micro_batch = 2;
  same.strategy.recompute = {RecomputeMode::full};
  const SharedPlan expected = priced(same);
  CHECK(changed.strategy == expected->answer.strategy);
  CHECK(changed.prediction.peak_memory == expected->answer.plan.prediction.peak_memory);
  CHECK(changed.prediction.step_time_s.expected == expected->answer.plan.prediction.step_time_s.expected);
}

TEST_CASE("the plan's own choices are the plan") {
  const SharedPlan plan = priced(pipelined());
  const Plan same = plan_at(plan->answer, knobs_of(plan->answer.strategy));
  CHECK(same.strategy == plan->answer.strategy);
  CHECK(same.prediction.peak_memory == plan->answer.plan.prediction.peak_memory);
}

TEST_CASE("sliders have the plan's own value, powers of two, and no more ranks than the fast interconnect joins") {
  AskedPlan asked = pipelined();
  asked.global_batch = 48;
  asked.strategy.micro_batch = 3;
  const SharedPlan plan = priced(asked);
  const KnobChoices choices = knob_choices(plan->answer);
  CHECK(choices.micro_batches == std::vector<std::int64_t>{1, 2, 3, 4, 8, 16, 32});
  CHECK(choices.tensor_parallel == std::vector<std::int32_t>{1, 2, 4, 8});
  CHECK(choices.zero_stages == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(choices.recomputes.front().mode == RecomputeMode::none);
}

TEST_CASE("choices that cannot go together are refused in the command line's words") {
  const SharedPlan plan = priced(pipelined());
  MemoryKnobs knobs = knobs_of(plan->answer.strategy);
  knobs.tensor_parallel = 8;
  CHECK_THROWS_AS(plan_at(plan->answer, knobs), InputError);
  knobs = knobs_of(plan->answer.strategy);
  knobs.zero_stage = 3;  // of two data-parallel ranks: legal
  CHECK(plan_at(plan->answer, knobs).strategy.shard_group == 2);
}

}  // namespace
}  // namespace plumbline::gui
