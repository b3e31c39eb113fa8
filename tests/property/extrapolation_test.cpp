// Laws of intervals: nothing is added inside what was measured, distance only widens, the unknown is wider.

#include "core/cost/extrapolation.h"

#include <cmath>

#include "models/calibration_set.h"
#include "models/machine_catalog.h"
#include "planner/pricing/evaluate.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Coefficient number(double value) { return {value, 0, "assumed", "a test"}; }

RunFeatures run_of(std::int64_t every_scale) {
  RunFeatures run{"a device", "bf16", "dense", {}};
  run.scales.fill(every_scale);
  return run;
}

/// Device and stack were measured from 8 to 64 of every scale.
Calibration measured(double device_sigma, double stack_sigma) {
  Calibration calibration;
  calibration.device.residuals.emplace();
  calibration.device.residuals->regime = calibration.stack.residuals.regime = CalibrationRegime::calibrated;
  calibration.device.residuals->time.sigma = number(device_sigma);
  calibration.stack.residuals.time.sigma = number(stack_sigma);
  calibration.stack.residuals.memory.sigma = number(0.05);
  calibration.stack.uncertainty.shared_time_sigma = number(0.05);
  calibration.stack.uncertainty.sigma_per_doubling = number(0.03);
  calibration.stack.uncertainty.sigma_per_novelty = number(0.08);
  for (RunRanges* runs : {&calibration.device.residuals->measured, &calibration.stack.residuals.measured}) {
    runs->include(run_of(8));
    runs->include(run_of(64));
  }
  return calibration;
}

Plan plan_of(const std::string& stack, std::int64_t gpus) {
  QuestionText text;
  text.model = "llama-2-7b";
  text.machine = "dgx-h100";
  text.devices = gpus;
  text.training.sequence_length = 4096;
  text.training.global_batch = 4 * gpus;
  text.stack = stack;
  PartialStrategy partial;
  partial.strategy.zero_stage = 3;
  const Question question(text);
  return evaluate(question, completed(partial, question));
}

double width(const Interval& interval) { return std::log(interval.high / interval.low); }

}  // namespace

TEST_CASE("what one kind of network is missed by says nothing of another whose own runs are known") {
  Calibration calibration = measured(0.06, 0.15);
  calibration.stack.residuals.time_by_network = {{"dense", {number(0.07), 20}}};
  RunFeatures run = run_of(16);
  CHECK(uncertainty(calibration, run).time_sigma == Approx(uncertainty(measured(0.06, 0.07), run).time_sigma));
  CHECK(stack_time_sigma(calibration.stack, run) == Approx(0.07));
  run.network = "moe";  // not enough runs of its own: those of all
  CHECK(stack_time_sigma(calibration.stack, run) >= 0.15);
}

TEST_CASE("a shipped residual of one kind of network rests on enough runs, and on fewer than that of all") {
  std::size_t kinds = 0;
  for (const SoftwareStack& stack : CalibrationSet::shipped().stacks()) {
    if (!stack.residuals) continue;
    CAPTURE(stack.name);
    for (const NetworkResidual& one : stack.residuals->time_by_network) {
      ++kinds;
      CHECK(one.time.runs >= 8);
      CHECK(one.time.runs < stack.residuals->time.runs);
    }
    CHECK(stack.residuals->time_of("a kind without runs").runs == stack.residuals->time.runs);
  }
  CHECK(kinds >= 3);
}

// 0.06^2 + 0.07^2 - 0.05^2 = 0.006
TEST_CASE("the residuals of device and stack add up, less once what both contain") {
  CHECK(uncertainty(measured(0.06, 0.07), run_of(16)).time_sigma == Approx(std::sqrt(0.006)));
  CHECK(uncertainty(measured(0.05, 0.08), run_of(16)).time_sigma == Approx(0.08));
  CHECK(uncertainty(measured(0.02, 0.02), run_of(16)).time_sigma == Approx(0.02));  // both contain all of it
}

TEST_CASE("inside of what was measured nothing is added") {
  const Calibration calibration = measured(0.06, 0.06);
  const double base = uncertainty(calibration, run_of(8)).time_sigma;
  for (std::int64_t scale = 8; scale <= 64; ++scale) {
    const Uncertainty inside = uncertainty(calibration, run_of(scale));
    CHECK(inside.time_sigma == base);
    CHECK(inside.beyond.empty());
  }
}

// Half of the step moves with the host's times: log(1 + 0.5 (exp(6 sigma) - 1)) / 6 is 0.12836 of 0.2, 0.39256 of 0.5.
// The other half moves with what the residuals of 0.05 are of.
TEST_CASE("what is launching adds the host's sigma, of a calibrated stack its own, of any other more") {
  Calibration calibration = measured(0.05, 0.05);
  calibration.stack.uncertainty.host_sigma = number(0.2);
  calibration.stack.uncertainty.unmeasured_host_sigma = number(0.5);
  RunFeatures run = run_of(16);
  CHECK(uncertainty(calibration, run).time_sigma == Approx(0.05));
  run.host_share = 0.5;
  CHECK(uncertainty(calibration, run).time_sigma == Approx(std::sqrt(0.025 * 0.025 + 0.12836 * 0.12836)).epsilon(1e-4));
  calibration.stack.residuals.regime = CalibrationRegime::few_runs;
  CHECK(uncertainty(calibration, run).time_sigma == Approx(std::sqrt(0.025 * 0.025 + 0.39256 * 0.39256)).epsilon(1e-4));
}

TEST_CASE("a network that nobody stated adds its sigma as far as the step moves with it") {
  Calibration calibration = measured(0.05, 0.05);
  calibration.stack.uncertainty.unstated_network_sigma = number(0.4);
  RunFeatures run = run_of(16);
  CHECK(uncertainty(calibration, run).time_sigma == Approx(0.05));
  run.network_share = 0.25;
  CHECK(uncertainty(calibration, run).time_sigma == Approx(std::sqrt(0.05 * 0.05 + 0.1 * 0.1)));
  CHECK(uncertainty(calibration, run).memory_sigma == uncertainty(calibration, run_of(16)).memory_sigma);
}

// One scale two doublings past 64, at 0.03 a doubling.
TEST_CASE("a doubling past the end of a range adds its slope, on either side, and is said in words") {
  const Calibration calibration = measured(0.05, 0.05);
  RunFeatures run = run_of(16);
  run[RunScale::gpus] = 256;
  const Uncertainty far = uncertainty(calibration, run);
  CHECK(far.time_sigma == Approx(std::sqrt(0.05 * 0.05 + 0.06 * 0.06)));
  REQUIRE(far.beyond.size() == 1);
  CHECK(far.beyond.front().what == "256 GPUs where at most 64 were measured");
  CHECK(far.beyond.front().doublings == Approx(2));
  run[RunScale::gpus] = 2;
  const Uncertainty small = uncertainty(calibration, run);
  CHECK(small.time_sigma == Approx(far.time_sigma));
  CHECK(small.beyond.front().what == "2 GPUs where at least 8 were measured");
  CHECK(small.memory_sigma == far.memory_sigma);
}

TEST_CASE("distance only widens, in every scale") {
  const Calibration calibration = measured(0.06, 0.06);
  for (std::size_t i = 0; i < run_scale_count; ++i) {
    RunFeatures run = run_of(64);
    double before = uncertainty(calibration, run).time_sigma;
    for (std::int64_t scale = 65; scale < 1'000'000; scale += scale / 3) {
      run.scales[i] = scale;
      const double now = uncertainty(calibration, run).time_sigma;
      CHECK(now > before);
      before = now;
    }
  }
}

TEST_CASE("a device, number format or kind of network never measured widens") {
  const Calibration calibration = measured(0.05, 0.05);
  RunFeatures run = run_of(16);
  for (std::string* word : {&run.device, &run.format, &run.network}) {
    const std::string known = std::exchange(*word, "another");
    const Uncertainty novel = uncertainty(calibration, run);
    CHECK(novel.time_sigma == Approx(std::sqrt(0.05 * 0.05 + 0.08 * 0.08)));
    REQUIRE(novel.beyond.size() == 1);
    CHECK(novel.beyond.front().what.find("another where ") != std::string::npos);
    *word = known;
  }
}

TEST_CASE("what one calibration covers and the other does not counts as far") {
  Calibration calibration = measured(0.05, 0.05);
  calibration.device.residuals->measured.include(run_of(1024));
  RunFeatures run = run_of(16);
  run[RunScale::pp] = 128;
  CHECK(uncertainty(calibration, run).beyond.size() == 1);
  calibration.stack.residuals.measured = {};  // nobody said: the device's range alone counts
  CHECK(uncertainty(calibration, run).beyond.empty());
}

TEST_CASE("a stack without a measured run has a wider interval than those with many, and so has a device") {
  const CalibrationSet& set = CalibrationSet::shipped();
  const Device h100 = find_machine("dgx-h100").groups.front().node.device;
  const double unknown = width(plan_of("plumbline", 8).prediction.step_time_s);
  int calibrated = 0;
  for (const std::string& name : set.stack_names()) {
    if (set.stack(name).residuals.regime != CalibrationRegime::calibrated) continue;
    CAPTURE(name);
    // V100's rows scatter more than an unknown stack; what was measured on mixtures alone says as little of dense ones.
    if (set.stack(name).residuals.time.sigma >= set.stack("plumbline").residuals.time.sigma) continue;
    const Plan plan = plan_of(name, 8);
    if (!plan.provenance.trust.beyond.empty()) continue;
    ++calibrated;
    CHECK(width(plan.prediction.step_time_s) < unknown);
  }
  CHECK(calibrated >= 5);
  const Device none = find_machine("l40s-pcie").groups.front().node.device;
  CHECK(set.device(none).residuals->regime == CalibrationRegime::unknown);
  CHECK(set.device(none).residuals->time.sigma > set.device(h100).residuals->time.sigma);
}

TEST_CASE("a plan says how far it is from anything measured") {
  const Plan far = plan_of("megatron-core-0.12", 65536);
  CHECK(far.provenance.trust.is_far);
  REQUIRE_FALSE(far.provenance.trust.beyond.empty());
  CHECK(far.provenance.trust.beyond.front().starts_with("65536 GPUs where at most "));
  CHECK(width(far.prediction.step_time_s) > width(plan_of("megatron-core-0.12", 64).prediction.step_time_s));
  CHECK(width(far.prediction.peak_memory_interval_bytes) > 0);
}

TEST_CASE("a stack that states no residuals rests on what any stack's runs say of its traits") {
  CalibrationSet set = CalibrationSet::shipped();
  SoftwareStack mine;
  mine.name = "mine";
  mine.like = "torchtitan-2024.12";
  set.add(mine);
  const Residuals residuals = set.stack("mine").residuals;
  CHECK(residuals.regime == CalibrationRegime::unknown);
  CHECK(residuals.time.sigma >= set.stack("torchtitan-2024.12").residuals.time.sigma);
  const auto& gpus = residuals.measured.scales[static_cast<std::size_t>(RunScale::gpus)];
  REQUIRE(gpus);
  for (const SoftwareStack& stack : set.stacks())
    if (stack.residuals) CHECK(gpus->most >= stack.residuals->measured.scales.front()->most);
}

}  // namespace plumbline
