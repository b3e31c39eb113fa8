// Runs are predicted without their answers, repetitions count once, nothing vanishes.

#include "planner/validate/validate.h"

#include <algorithm>
#include <optional>

#include "tests/unit/planner/validate/published_runs.h"

namespace plumbline {
namespace {

const RunSet& set_named(const std::string& name) {
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == name) return set;
  FAIL("no set " << name);
  return rows_of_catalogue().front();
}

MeasuredRun zero_bubble_row() { return *published_row("zb-t4-1.5b-1f1b-m24").first; }

}  // namespace

TEST_CASE("a prediction does not change when every measured value does") {
  RunSet set = set_named("zero_bubble");
  const Validation before = validate({set}, resolver_of_catalogue());
  for (MeasuredRun& run : set.runs) {
    if (run.measured.step_time_s) *run.measured.step_time_s *= 17;
    if (run.measured.memory_gb_as_published) *run.measured.memory_gb_as_published *= 3;
  }
  const Validation after = validate({set}, resolver_of_catalogue());
  REQUIRE(before.runs.size() == after.runs.size());
  for (std::size_t i = 0; i < before.runs.size(); ++i) {
    CHECK(before.runs[i].pair.predicted.expected == after.runs[i].pair.predicted.expected);
    CHECK(before.runs[i].pair.predicted.low == after.runs[i].pair.predicted.low);
    CHECK(before.runs[i].pair.measured < after.runs[i].pair.measured);
  }
}

TEST_CASE("every use of every run is predicted or skipped with a reason") {
  for (const RunSet& set : rows_of_catalogue()) {
    std::size_t uses = 0;
    for (const MeasuredRun& run : set.runs) uses += run.suspect ? 1 : run.uses->size();
    const Validation validation = validate({set}, resolver_of_catalogue());
    CAPTURE(set.name);
    CHECK(validation.runs.size() + validation.skipped.size() == uses);
    for (const SkippedRun& run : validation.skipped) CHECK_FALSE(run.reason.empty());
  }
}

TEST_CASE("a run that does not state its network has a wider interval around the same expectation") {
  RunSet stated = set_named("ptdp_vs_zero3");
  RunSet unstated = stated;
  for (MeasuredRun& run : unstated.runs) run.question.fields.words.erase("network");
  const Validation known = validate({stated}, resolver_of_catalogue());
  const Validation unknown = validate({unstated}, resolver_of_catalogue());
  REQUIRE(known.runs.size() == unknown.runs.size());
  REQUIRE_FALSE(known.runs.empty());
  for (std::size_t i = 0; i < known.runs.size(); ++i) {
    const Interval& narrow = known.runs[i].pair.predicted;
    const Interval& wide = unknown.runs[i].pair.predicted;
    CAPTURE(known.runs[i].id);
    CHECK(wide.expected == narrow.expected);
    CHECK(wide.high / wide.low > 1.001 * (narrow.high / narrow.low));
  }
}

TEST_CASE("of two runs of one question the faster counts, of their peaks the larger") {
  MeasuredRun slow = zero_bubble_row();
  MeasuredRun fast = slow;
  slow.question.id = "slow";
  fast.question.id = "fast";
  *fast.measured.step_time_s /= 2;
  *fast.measured.memory_gb_as_published /= 2;
  const Validation validation = validate({{"zero_bubble", {slow, fast}}}, resolver_of_catalogue());
  REQUIRE(validation.runs.size() == 2);
  CHECK(validation.runs[0].id == "fast");
  CHECK(validation.runs[0].kind == RunKind::time);
  CHECK(validation.runs[1].id == "slow");
  CHECK(validation.runs[1].kind == RunKind::memory);
  REQUIRE(validation.skipped.size() == 2);
  CHECK(validation.skipped[0].reason == "a repetition of fast, which was faster");
  CHECK(validation.skipped[1].reason == "a repetition of slow, whose peak was larger");
}

TEST_CASE("a faster run whose batch was inferred does not stand for one that published it") {
  const MeasuredRun known = zero_bubble_row();
  MeasuredRun inferred = known;
  inferred.question.id = "inferred";
  inferred.question.unverified.insert("global_batch");
  *inferred.measured.step_time_s /= 2;
  const ValidationSummary summary = summarize(validate({{"zero_bubble", {inferred, known}}}, resolver_of_catalogue()));
  CHECK(summary.time.n == 1);
  CHECK(summary.time_inferred.n == 1);
}

/// Which of the source's runs contradict their neighbours.
SourceRules doubts_of_bloom() { return {set_named("bigscience_bloom_a100").rules.meanings, {}}; }

TEST_CASE("runs that prove less are summarized apart") {
  MeasuredRun known = zero_bubble_row();
  MeasuredRun inferred = known;
  inferred.question.id = "inferred";
  inferred.question.fields.numbers["global_batch"] = 288;
  inferred.question.unverified.insert("global_batch");
  MeasuredRun doubtful = known;
  doubtful.question.id = "bloom-prequel-l775";  // of which its source's rules speak
  doubtful.question.fields.numbers["global_batch"] = 432;
  const ValidationSummary summary =
      summarize(validate({{"zero_bubble", {known, inferred, doubtful}, doubts_of_bloom()}}, resolver_of_catalogue()));
  CHECK(summary.time.n == 1);
  CHECK(summary.time_inferred.n == 1);
  CHECK(summary.time_doubtful.n == 1);
  CHECK(summary.memory.n == 1);
  CHECK(summary.ran.n == 2);
  CHECK(summary.ran_doubtful.n == 1);
}

TEST_CASE("a fit answer that contradicts its neighbours is counted apart") {
  MeasuredRun run = zero_bubble_row();
  run.question.id = "bloom-prequel-l957";  // of which its source's rules speak
  run.measured.out_of_memory = true;
  run.uses.reset();
  const ValidationSummary summary =
      summarize(validate({{"zero_bubble", {run}, doubts_of_bloom()}}, resolver_of_catalogue()));
  CHECK(summary.fit.n == 0);
  CHECK(summary.fit.doubtful == 1);
}

TEST_CASE("interleaving that was only inferred makes a run prove less, one stage a rank does not") {
  const Validation validation = validate({set_named("zero_bubble")}, resolver_of_catalogue());
  for (const RunOutcome& run : validation.runs) {
    CAPTURE(run.id);
    CHECK((run.trust == RunTrust::inferred) == (run.strategy.find("interleaved") != std::string::npos));
  }
}

TEST_CASE("a step time follows from throughput where only that was published") {
  MeasuredRun run = zero_bubble_row();
  const double seconds = *run.measured.step_time_s;
  run.measured.tokens_per_s_per_gpu = 144.0 * 1024 / (seconds * 8);
  run.measured.step_time_s.reset();
  const Validation validation = validate({{"zero_bubble", {run}}}, resolver_of_catalogue());
  REQUIRE_FALSE(validation.runs.empty());
  CHECK(validation.runs.front().pair.measured == Approx(seconds));
}

// Korthikanti et al.: the hardware's FLOPs are the model's and what is recomputed. Without recompute both rates are
// one; with all layers recomputed a step of the same rate takes up to 4/3 of the time (the head is computed once).
TEST_CASE("a rate of executed FLOPs counts what is recomputed") {
  const auto seconds = [](const char* recompute, std::optional<double> RunMeasurement::*rate) {
    MeasuredRun run = zero_bubble_row();
    run.question.fields.words["recompute"] = recompute;
    run.measured = {};
    run.measured.*rate = 100;
    const Validation validation = validate({{"zero_bubble", {run}}}, resolver_of_catalogue());
    REQUIRE(validation.runs.size() == 1);
    return validation.runs.front().pair.measured;
  };
  const double model = seconds("none", &RunMeasurement::tflops_per_gpu);
  CHECK(seconds("none", &RunMeasurement::hfu_tflops_per_gpu) == Approx(model));
  CHECK(seconds("full", &RunMeasurement::tflops_per_gpu) == Approx(model));
  const double recomputed = seconds("full", &RunMeasurement::hfu_tflops_per_gpu);
  CHECK(recomputed > 1.2 * model);
  CHECK(recomputed < 1.3334 * model);
}

TEST_CASE("runs that are held out are predicted as all others and told apart") {
  const RunSet seen = set_named("karpathy");
  RunSet held_out = set_named("zero_bubble");
  const Validation before = validate({held_out}, resolver_of_catalogue());
  held_out.held_out = true;
  const Validation both = validate({seen, held_out}, resolver_of_catalogue());
  const Validation part = held_out_part(both);
  REQUIRE(part.runs.size() == before.runs.size());
  for (std::size_t i = 0; i < part.runs.size(); ++i) {
    CHECK(part.runs[i].source == "zero_bubble");
    CHECK(part.runs[i].pair.predicted.expected == before.runs[i].pair.predicted.expected);
  }
  CHECK(fitted_part(both).runs.size() + part.runs.size() == both.runs.size());
  CHECK(summarize(fitted_part(both)).time.n == summarize(validate({seen}, resolver_of_catalogue())).time.n);
}

TEST_CASE("a run says in what it lies outside of the runs behind its calibration") {
  const Validation validation = validate({set_named("mlperf_v5_1_llama2_70b_lora")}, resolver_of_catalogue());
  const auto far = std::find_if(validation.runs.begin(), validation.runs.end(), [](const RunOutcome& run) {
    return run.id == "mlperf-v5.1-llama2_70b_lora-amd-mi355x_epyc_9575f_pytorch";
  });
  REQUIRE(far != validation.runs.end());
  CHECK(far->confidence.is_far);  // its device was never measured
  CHECK_FALSE(far->confidence.beyond.empty());
}

TEST_CASE("a run without a use of its own is compared in everything that it measured") {
  MeasuredRun run = zero_bubble_row();
  run.uses.reset();
  run.measured.out_of_memory = false;
  const Validation validation = validate({{"zero_bubble", {run}}}, resolver_of_catalogue());
  CHECK(validation.runs.size() == 3);  // time, memory, fit
  run.suspect = true;
  const Validation none = validate({{"zero_bubble", {run}}}, resolver_of_catalogue());
  REQUIRE(none.skipped.size() == 1);
  CHECK(none.skipped.front().reason == "its source contradicts itself");
}

TEST_CASE("filters keep the devices and sources asked for") {
  const auto count = [](const ValidationFilter& filter) {
    return validate({set_named("zero_bubble"), set_named("karpathy")}, resolver_of_catalogue(), filter).runs.size();
  };
  CHECK(count({{}, {"KARPATHY"}}) == 5);
  CHECK(count({{"h100-sxm-80gb"}, {}}) == 2);
  CHECK(count({{"h100-sxm-80gb"}, {"zero_bubble"}}) == 0);
}

}  // namespace plumbline
