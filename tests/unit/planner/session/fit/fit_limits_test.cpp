// The most that fits: each limit fits, and the next value does not.

#include "planner/session/fit/fit_limits.h"

#include "planner/session/fit/fit_probe.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// Llama 3 8B under FSDP on 8 x 80 GB.
FitLimitsRequest given_request() {
  FitLimitsRequest request;
  request.question = too_large_request().question;
  request.question.training.global_batch = 0;
  PartialStrategy partial;
  partial.strategy.zero_stage = 3;
  request.strategy = partial;
  return request;
}

const FitLimit& limit_of(const FitLimits& answer, LimitKind kind) {
  for (const FitLimit& limit : answer.limits)
    if (limit.kind == kind) return limit;
  throw InternalError("no such limit");
}

/// What an estimate says of this micro-batch and sequence, with two micro-batches a step.
Plan estimated(std::int64_t micro_batch, std::int64_t sequence, std::int64_t devices, const std::string& model) {
  StrategyRequest request = too_large_request();
  request.question.model = model;
  request.question.devices = devices;
  request.question.training.sequence_length = sequence;
  request.question.training.global_batch = 2 * micro_batch * devices;
  request.strategy.strategy.zero_stage = 3;
  request.strategy.strategy.micro_batch = micro_batch;
  return estimate(request).plan;
}

TEST_CASE("of a given strategy each limit fits and the next value does not") {
  const FitLimits answer = fit_limits(given_request());
  CHECK(answer.complete);
  REQUIRE(answer.limits.size() == 4);
  const std::string model = "llama-3-8b";
  const FitLimit& batch = limit_of(answer, LimitKind::micro_batch);
  REQUIRE(batch.value > 1);
  CHECK(estimated(batch.value, 4096, 8, model).verdict.fits);
  CHECK(!estimated(batch.value + 1, 4096, 8, model).verdict.fits);
  REQUIRE(batch.beyond);
  CHECK(batch.beyond->value == batch.value + 1);
  CHECK(batch.beyond->reason == estimated(batch.value + 1, 4096, 8, model).verdict.reason);
  const FitLimit& sequence = limit_of(answer, LimitKind::sequence);
  REQUIRE(sequence.value > 4096);
  CHECK(sequence.value % 128 == 0);
  CHECK(estimated(1, sequence.value, 8, model).verdict.fits);
  CHECK(!estimated(1, sequence.value + 128, 8, model).verdict.fits);
  CHECK(sequence.note == "longer than the 8192 tokens that the model was made for");
  const FitLimit& devices = limit_of(answer, LimitKind::devices);
  REQUIRE(devices.value == 4);
  CHECK(estimated(1, 4096, 4, model).verdict.fits);
  CHECK(!estimated(1, 4096, 2, model).verdict.fits);
  REQUIRE(devices.beyond);
  CHECK(devices.beyond->value == 2);
}

TEST_CASE("what fits surely does so in 95 of 100 cases, and the next value does not") {
  const FitLimits answer = fit_limits(given_request());
  const std::string model = "llama-3-8b";
  const FitLimit& batch = limit_of(answer, LimitKind::micro_batch);
  REQUIRE(batch.sure);
  CHECK(batch.sure->value <= batch.value);
  CHECK(estimated(batch.sure->value, 4096, 8, model).verdict.chance_to_fit >= 0.95);
  CHECK(estimated(batch.sure->value + 1, 4096, 8, model).verdict.chance_to_fit < 0.95);
  const FitLimit& sequence = limit_of(answer, LimitKind::sequence);
  REQUIRE(sequence.sure);
  CHECK(sequence.sure->value < sequence.value);
  CHECK(estimated(1, sequence.sure->value, 8, model).verdict.chance_to_fit >= 0.95);
  CHECK(estimated(1, sequence.sure->value + 128, 8, model).verdict.chance_to_fit < 0.95);
  for (const FitLimit& limit : answer.limits) {
    REQUIRE(limit.sure);
    CHECK(limit.sure->plan.verdict.chance_to_fit >= 0.95);
  }
  const FitLimit& devices = limit_of(answer, LimitKind::devices);
  CHECK(devices.sure->value >= devices.value);
}

TEST_CASE("the largest model of a family fits and the next larger does not") {
  const FitLimits answer = fit_limits(given_request());
  CHECK(answer.request.family == "llama");
  const FitLimit& model = limit_of(answer, LimitKind::model);
  REQUIRE(model.plan);
  CHECK(model.plan->verdict.fits);
  REQUIRE(model.beyond);
  CHECK(!estimated(1, 4096, 8, model.beyond->model).verdict.fits);
  CHECK(estimated(1, 4096, 8, model.plan->model.name).verdict.fits);
}

TEST_CASE("headroom makes every limit tighter") {
  FitLimitsRequest request = given_request();
  const std::int64_t loose = limit_of(fit_limits(request), LimitKind::micro_batch).value;
  request.question.headroom.share = 0.3;
  const FitLimits tight = fit_limits(request);
  const FitLimit& batch = limit_of(tight, LimitKind::micro_batch);
  CHECK(batch.value < loose);
  REQUIRE(batch.plan);
  CHECK(batch.plan->verdict.margin >= batch.plan->verdict.headroom);
}

TEST_CASE("without a strategy any plan that the framework launches may be the one") {
  FitLimitsRequest request = given_request();
  request.strategy.reset();
  const FitLimits answer = fit_limits(request);
  CHECK(answer.framework.framework == Framework::megatron_bridge);
  CHECK(limit_of(answer, LimitKind::micro_batch).value > 1);
  CHECK(limit_of(answer, LimitKind::sequence).value > 8192);
  for (const FitLimit& limit : answer.limits) {
    REQUIRE(limit.plan);
    CHECK(limit.plan->verdict.fits);
  }
}

TEST_CASE("a family without a model asks which of it fits, then what that one allows") {
  FitLimitsRequest request;
  request.question = small_request(1).question;
  request.question.model.clear();
  request.question.training.global_batch = 0;
  request.family = "gpt2";
  request.strategy = PartialStrategy{};
  const FitLimits answer = fit_limits(request);
  REQUIRE(answer.limits.size() == 4);
  CHECK(answer.limits.front().kind == LimitKind::model);
  CHECK(answer.limits.front().plan->model.name == "gpt2-xl");
  CHECK(!answer.limits.front().beyond);
  CHECK(answer.request.question.model == "gpt2-xl");
}

TEST_CASE("where not even the smallest fits, a limit has no value but a reason") {
  FitLimitsRequest request = given_request();
  request.strategy->strategy.zero_stage = 0;
  const FitLimits answer = fit_limits(request);
  const FitLimit& batch = limit_of(answer, LimitKind::micro_batch);
  CHECK(batch.value == 0);
  CHECK(!batch.plan);
  REQUIRE(batch.beyond);
  CHECK(batch.beyond->value == 1);
  const FitLimit& devices = limit_of(answer, LimitKind::devices);  // nothing is sharded: more do not help
  CHECK(!devices.plan);
}

TEST_CASE("limits that are stopped answer with those found so far") {
  std::stop_source source;
  Task task;
  task.stop = source.get_token();
  task.end_of_phase = [&](std::string_view) { source.request_stop(); };
  const FitLimits answer = fit_limits(given_request(), task);
  CHECK(!answer.complete);
  CHECK(answer.limits.size() == 1);
}

TEST_CASE("what is wrong with the question whatever the batch is refused") {
  FitLimitsRequest request = given_request();
  request.question.model.clear();
  CHECK(refusal([&] { return fit_limits(request); }) ==
        "--model: is missing; expected a name of plan models or a file, or --family");
  request = given_request();
  request.strategy->strategy.tensor_parallel = 3;
  CHECK(refusal([&] { return fit_limits(request); }).find("strategy: tp x cp x pp = 3") == 0);
  request = given_request();
  request.family = "lama";
  CHECK(refusal([&] { return fit_limits(request); }).find("--family: ") == 0);
}

}  // namespace
}  // namespace plumbline::session
