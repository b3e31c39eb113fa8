// Settings of a framework that no rule names: what a run states stays, the rest is common practice of its time.

#include "core/plan/plan.h"
#include "planner/calibrate/source_rules.h"
#include "planner/pricing/evaluate.h"

#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline::unknown_framework_test {
namespace {

/// A published run, read as of a framework that nobody knows.
Resolution unknown_row(const std::string& id) {
  const auto [run, runs] = published_row(id);
  const RunSet unknown = of_unknown_framework(*runs);
  for (const MeasuredRun& one : unknown.runs)
    if (one.question.id == run->question.id) return resolver_of_catalogue().resolve(one.question, unknown);
  FAIL("not in its own set: " << id);
  return {};
}

struct Expected {
  const char* id;
  const char* stack;
  const char* strategy;
};

// Published fields alone, by hand: what they leave open follows from the year and from what they say of the software.
constexpr std::array expected_rows{
    // fp8 on H100, tensor parallelism: states and sequences are divided, nothing is recomputed where it fits.
    Expected{"nemo-24.12-028", "unknown-fused", "tp 8 pp 8 dp 2 sp interleaved virtual 12 mbs 1 x 16 zero-1"},
    Expected{"bs-v100-1b3-l28", "unknown-2022", "pp 2 dp 4 1f1b mbs 8 x 16 zero-1 recompute full"},
    // ZeRO-3 of 2021, without FlashAttention.
    Expected{"ptdp-t2-zero-3-megatron-530b-640", "unknown-2022-sharded", "dp 640 mbs 4 x 1 zero-3 recompute full"},
    // fp16 on A100, nothing said of attention or states.
    Expected{"zb-t4-1.5b-zb-2p-m24", "unknown-2022", "pp 8 zb-h2 mbs 6 x 24"},
    Expected{"llmfoundry-001", "unknown-sharded", "dp 512 mbs 8 x 1 zero-3 recompute full"},
    // "selective" next to FSDP, compiled.
    Expected{"ao-h100-l8b-none", "unknown-compiled", "dp 8 mbs 1 x 1 zero-3 recompute by-operator"},
    // Sequences are not divided, says the run, and selective recompute is of attention's core.
    Expected{"korth22-t5-full-megatron-22b", "unknown-2022", "tp 8 mbs 4 x 1 recompute full"},
    Expected{"korth22-t5-seqsel-megatron-22b", "unknown-2022", "tp 8 sp mbs 4 x 1 recompute selective"},
    // DeepEP over the eight ranks that share parameters.
    Expected{"automodel-07", "unknown-deepep", "ep 8 dp 8 mbs 4 x 16 zero-1 recompute full"},
};

}  // namespace

TEST_CASE("of an unknown framework, published settings stay and others are those of its time") {
  for (const Expected& expected : expected_rows) {
    CAPTURE(expected.id);
    const Resolution resolution = unknown_row(expected.id);
    REQUIRE(resolution.run);
    const Question& question = resolution.run->question;
    CHECK(question.text().stack == expected.stack);
    CHECK(to_text(resolution.run->strategy) == expected.strategy);
    CHECK(evaluate(question, resolution.run->strategy).provenance.trust.regime == "unknown");
  }
}

TEST_CASE("an expert degree that nobody published is that of the ranks that share parameters, under DeepEP alone") {
  CHECK(unknown_row("automodel-09").run->strategy.expert_parallel == 64);
  CHECK(unknown_row("automodel-07").run->strategy.expert_parallel == 8);
}

TEST_CASE("every setting of an unknown framework that was assumed says why") {
  const Resolution resolution = unknown_row("nemo-24.12-028");
  REQUIRE(resolution.run);
  for (const char* field : {"stack", "sequence_parallel", "zero_stage", "recompute"}) {
    CAPTURE(field);
    const auto& assumed = resolution.run->assumed;
    const auto found =
        std::find_if(assumed.begin(), assumed.end(), [&](const AssumedField& one) { return one.field == field; });
    REQUIRE(found != assumed.end());
    CHECK_FALSE(found->source.empty());
  }
}

// The memory of an unknown stack is known to 10 %, so what is a little too much may have fitted.
TEST_CASE("recompute is assumed only where memory rules out that less of it was run") {
  const Resolution resolution = unknown_row("mbridge-26.02.01-165");
  REQUIRE(resolution.run);
  const Question& question = resolution.run->question;
  Strategy less = resolution.run->strategy;
  less.recompute = {RecomputeMode::none, 1};
  REQUIRE(resolution.run->strategy.recompute.mode != RecomputeMode::none);
  const Plan plan = evaluate(question, less);
  CHECK(plan.prediction.peak_memory_interval_bytes.low > static_cast<double>(question.capacity().value()));
  // It needs more than there is in the middle of the interval, less at its lower end.
  const Resolution close = unknown_row("nemo-24.12-028");
  REQUIRE(close.run);
  CHECK(close.run->strategy.recompute.mode == RecomputeMode::none);
  const Prediction needs = evaluate(close.run->question, close.run->strategy).prediction;
  const auto capacity = static_cast<double>(close.run->question.capacity().value());
  CHECK(static_cast<double>(needs.peak_memory.value()) > 0.97 * capacity);
  CHECK(needs.peak_memory_interval_bytes.low < 0.97 * capacity);
}

}  // namespace plumbline::unknown_framework_test
