// Images, samples and tokens: the words and the throughput in them.

#include "planner/present/sample_words.h"

#include "planner/present/plan_columns.h"
#include "planner/present/plan_tables.h"
#include "planner/present/plan_words.h"
#include "planner/session/estimate.h"
#include "tests/catch.h"
#include "tests/sample_plan.h"

namespace plumbline::present {
namespace {

// 64 samples in 4 ms on 16 GPUs: 1000 a second on each.
Plan plan_of(SampleUnit unit) {
  Plan plan = sample_plan();
  plan.model.sample = unit;
  plan.prediction.step_time_s.expected = 0.004;
  return plan;
}

bool has_column(const Plan& plan, std::string_view title) {
  const Table table = plan_table({plan});
  return std::any_of(table.columns.begin(), table.columns.end(), [&](const Column& c) { return c.title == title; });
}

TEST_CASE("networks of images speak of images alone") {
  const Plan plan = plan_of(SampleUnit::image);
  CHECK(batch_words(plan) == "global batch 64 images");
  CHECK(budget_words(plan) == "244 K images");  // 10^9 tokens of 4096 to an image
  CHECK(throughput_words(plan).starts_with("1000.0 images/s/GPU, MFU "));
  CHECK(has_column(plan, "img/s/GPU"));
  CHECK_FALSE(has_column(plan, "tok/s/GPU"));
}

TEST_CASE("encoders speak of samples beside tokens") {
  const Plan plan = plan_of(SampleUnit::sample);
  CHECK(batch_words(plan) == "sequence 4096, global batch 64 samples");
  CHECK(throughput_words(plan).starts_with("1000.0 samples/s/GPU, 1234.5 tokens/s/GPU, MFU "));
  CHECK(has_column(plan, "smp/s/GPU"));
  CHECK(has_column(plan, "tok/s/GPU"));
}

TEST_CASE("what predicts tokens speaks of tokens") {
  const Plan plan = plan_of(SampleUnit::sequence);
  CHECK(batch_words(plan) == "sequence 4096, global batch 64");
  CHECK(budget_words(plan) == "1.00 B tokens");
  CHECK(rates(plan).size() == 1);
  CHECK_FALSE(has_column(plan, "img/s/GPU"));
  CHECK_FALSE(has_column(plan, "smp/s/GPU"));
}

TEST_CASE("two plans are compared in the units that both are spoken of in") {
  const auto has_rate = [](const Plan& a, const Plan& b, std::string_view unit) {
    const Table table = difference_table(a, b);
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return row[0].text == unit; });
  };
  const Plan images = plan_of(SampleUnit::image);
  CHECK(has_rate(images, images, "images/s/GPU"));
  CHECK_FALSE(has_rate(images, images, "tokens/s/GPU"));
  CHECK_FALSE(has_rate(images, plan_of(SampleUnit::sequence), "images/s/GPU"));
}

session::StrategyRequest resnet() {
  session::StrategyRequest request;
  request.question.model = "resnet-50";
  request.question.machine = "dgx-h100";
  request.question.training.global_batch = 512;
  request.strategy.strategy.micro_batch = 16;
  return request;
}

// 512 images a step over 8 GPUs; 90 epochs of ImageNet's 1 281 167 images are 225 205.1 steps.
TEST_CASE("a run of so many images takes their number over the batch") {
  session::StrategyRequest request = resnet();
  request.question.sample_budget = 90 * 1'281'167;
  const Plan plan = session::estimate(request).plan;
  const Prediction& p = plan.prediction;
  CHECK(plan.samples_per_second_per_gpu() * p.step_time_s.expected * 8 == Approx(512));
  CHECK(plan.run.gpu_hours == Approx(225'206 * p.step_time_s.expected * 8 / 3600));
  CHECK(budget_words(plan) == "115 M images");
}

TEST_CASE("a network of images is compared with measured runs by what it has, not by tokens") {
  session::StrategyRequest request = resnet();
  request.question.stack = "megatron-core-0.12";
  const Plan plan = session::estimate(request).plan;
  const std::string trust = trust_words(plan.provenance.trust);
  CHECK(trust.find("tokens") == std::string::npos);
  CHECK(trust.find("2048 hidden features") != std::string::npos);
}

TEST_CASE("a price of one's own stands in for the machine's") {
  session::StrategyRequest request = resnet();
  request.question.price_per_device_hour = Dollars(36);
  const Prediction p = session::estimate(request).plan.prediction;
  CHECK(p.dollars_per_step == Approx(36. * 8 * p.step_time_s.expected / 3600));
}

}  // namespace
}  // namespace plumbline::present
