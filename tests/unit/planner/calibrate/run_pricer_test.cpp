#include "planner/calibrate/run_pricer.h"

#include "planner/pricing/evaluate.h"
#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

using namespace plumbline;

TEST_CASE("A run's price is the evaluated step to the picosecond") {
  // Tensor and pipeline parallelism with selective recompute; ZeRO-3 of a compiled stack; a zero-bubble schedule on the
  // authors' stack; experts with chosen modules recomputed.
  for (const char* id : {"korth22-t5-seqsel-gpt3-175b", "tt-83c879f1-l7b-fsdp2-compile-sac", "zb-t4-1.5b-zb-2p-m24",
                         "mbridge-26.04-137"}) {
    CAPTURE(id);
    const Resolution resolution = resolved_row(id);
    REQUIRE(resolution.run);
    const Question& question = resolution.run->question;
    const RunPricer pricer(question, resolution.run->strategy);
    const double step = evaluate(question, resolution.run->strategy).prediction.step_time_s.expected;
    CHECK(pricer.step_s(question.calibration()) == step);
    CHECK(pricer.step_s(without_sources(question.calibration())) == step);
  }
}

TEST_CASE("A run's price moves with the calibration that it is asked with") {
  const Resolution resolution = resolved_row("korth22-t5-seqsel-gpt3-175b");
  REQUIRE(resolution.run);
  const RunPricer pricer(resolution.run->question, resolution.run->strategy);
  Calibration slower = resolution.run->question.calibration();
  const double before = pricer.step_s(slower);
  for (ProductEfficiency& product : slower.device.products) product.peak_fraction.value *= 0.5;
  CHECK(pricer.step_s(slower) > 1.3 * before);
  CHECK(pricer.step_s(resolution.run->question.calibration()) == before);
}
