// Plans as launch files, and what is written in place of what a framework lacks.

#include "planner/session/export.h"

#include "core/base/errors.h"
#include "planner/explain/strategy_changes.h"
#include "planner/session/import.h"
#include "planner/session/nearest_launchable.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::session {
namespace {

PricedQuestion priced(PartialStrategy strategy, const char* model = "llama-3-8b") {
  StrategyRequest request;
  request.question = question_text(model, "dgx-h100", 16, 4096, 64);
  request.strategy = std::move(strategy);
  return estimate(request);
}

PartialStrategy pipeline(Schedule schedule, std::int32_t virtual_stages) {
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 4;
  partial.strategy.tensor_parallel = 2;
  partial.strategy.schedule = schedule;
  partial.strategy.virtual_stages = virtual_stages;
  partial.schedule_given = true;
  return partial;
}

TEST_CASE("a plan that the framework launches is written as it is, and read back") {
  const PricedQuestion asked = priced(pipeline(Schedule::interleaved, 2));
  const ExportAnswer answer = export_plan(asked, "megatron-lm", "");
  CHECK(answer.substitutions.empty());
  CHECK(!answer.nearest);
  CHECK(answer.release == "main");
  REQUIRE(answer.files.files.size() == 4);
  ImportRequest back;
  back.from = "megatron-lm";
  for (const LaunchFile& file : answer.files.files)
    if (file.name == "launch.sh") back.files = {{file.name, file.text}};
  back.question.machine = "dgx-h100";
  const PricedQuestion again = estimate(strategy_request(back, import_files(back)));
  CHECK((again.strategy == asked.strategy));
  CHECK(again.plan.prediction.peak_memory == asked.plan.prediction.peak_memory);
  CHECK(again.plan.prediction.step_time_s.expected == asked.plan.prediction.step_time_s.expected);
}

TEST_CASE("what the framework lacks is replaced axis by axis and said") {
  PartialStrategy partial = pipeline(Schedule::zbv, 2);
  partial.strategy.recompute = Recompute{RecomputeMode::every_nth, 2};
  const ExportAnswer answer = export_plan(priced(partial), "megatron-lm", "");
  REQUIRE(answer.substitutions.size() == 2);
  REQUIRE(answer.nearest);
  std::string text;
  for (const Substitution& one : answer.substitutions) text += one.sentence + " / " + one.change + "\n";
  INFO(text);
  CHECK(text.find("Megatron-LM has no schedule zbv; it has 1f1b and interleaved / pp 4 -> 1, schedule zbv -> ") !=
        std::string::npos);
  CHECK(text.find("Megatron-LM has no recompute every:2") != std::string::npos);
  CHECK(inexpressible(Framework::megatron_lm, answer.nearest->strategy, NetworkFacts{}).empty());
  CHECK(answer.nearest->verdict.fits);
}

TEST_CASE("a split that was found is written as the layers that it found") {
  PartialStrategy partial = pipeline(Schedule::one_f_one_b, 1);
  partial.strategy.split = StageSplit::balanced;
  const ExportAnswer answer = export_plan(priced(partial), "megatron-lm", "");
  CHECK(answer.substitutions.empty());
  CHECK(!answer.nearest);
}

TEST_CASE("a training that the framework lacks, and names that it does not know, are refused") {
  StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 8, 4096, 64);
  request.question.training.precision = PrecisionRecipe::bf16_pure;
  const PricedQuestion asked = estimate(request);
  CHECK_THROWS_WITH(export_plan(asked, "megatron-lm", ""),
                    Catch::Matchers::ContainsSubstring("--to: Megatron-LM has no precision"));
  CHECK_THROWS_WITH(export_plan(asked, "megatron-ml", ""), Catch::Matchers::ContainsSubstring("nearest: megatron-lm"));
  CHECK_THROWS_WITH(export_plan(priced({}), "megatron-lm", "core_v0.1"),
                    Catch::Matchers::ContainsSubstring("--release: 'core_v0.1' is not among"));
}

TEST_CASE("strategies one axis away are legal and differ") {
  const PricedQuestion asked = priced(pipeline(Schedule::zbv, 2));
  const auto all = one_axis_away(asked.strategy, plumbline::record_of(Framework::megatron_lm), asked.question);
  CHECK(all.size() > 10);
  for (const Strategy& one : all) {
    CHECK((one != asked.strategy));
    CHECK(!plumbline::changes_between(asked.strategy, one).empty());
    CHECK_NOTHROW(require_legal(one, asked.question));
  }
}

}  // namespace
}  // namespace plumbline::session
