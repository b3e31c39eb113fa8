// What a rank of 1000 parameters does not hold yet when the first backward begins, by hand.

#include "core/cost/held_states.h"
#include "tests/catch.h"
#include "tests/machines.h"

namespace plumbline {
namespace {

constexpr std::int64_t parameters = 1000;

LateTensors late(StepGradients gradients, MixedPrecision precision, const Strategy& s,
                 std::int64_t trained = parameters) {
  StageCost stage;
  stage.parameters.dense = {parameters, 0};
  stage.parameters.dense_trained = {trained, 0};
  StackCalibration stack = round_calibration().stack;
  stack.features.step_gradients = gradients;
  stack.features.mixed_precision = precision;
  const PrecisionFormats formats = precision_formats(PrecisionRecipe::bf16, NumberFormat::fp32);
  return RankStates(stage, s).of(s, formats, Optimizer::adamw, stack).late;
}

Strategy with(std::int64_t micro_batches, std::int32_t data_parallel, RecomputeMode recompute) {
  Strategy s;
  s.micro_batches = micro_batches;
  s.data_parallel = data_parallel;
  s.recompute.mode = recompute;
  return s;
}

TEST_CASE("gradients that a step makes anew are not there before its only backward") {
  const auto of = [](StepGradients gradients, const Strategy& s) {
    return late(gradients, MixedPrecision::of_weights, s).total();
  };
  CHECK(of(StepGradients::freed, with(1, 1, RecomputeMode::none)) == Bytes(4 * parameters));
  CHECK(of(StepGradients::held, with(1, 1, RecomputeMode::none)) == Bytes(0));
  CHECK(of(StepGradients::freed, with(2, 1, RecomputeMode::none)) == Bytes(0));
  CHECK(of(StepGradients::freed, with(1, 2, RecomputeMode::none)) == Bytes(0));
}

TEST_CASE("a full recompute under autocast casts weights again, so that no copies wait for it") {
  const auto of = [](MixedPrecision precision) {
    return late(StepGradients::freed, precision, with(1, 1, RecomputeMode::full)).total();
  };
  CHECK(of(MixedPrecision::by_autocast) == Bytes((4 + 2) * parameters));
  CHECK(of(MixedPrecision::of_weights) == Bytes(4 * parameters));
}

// Adapters of 30 beside 970 frozen weights, which stay as they are.
TEST_CASE("a recompute casts trained weights again, and finds frozen ones where they were") {
  const LateTensors adapters =
      late(StepGradients::freed, MixedPrecision::by_autocast, with(1, 1, RecomputeMode::full), 30);
  CHECK(adapters.weights == Bytes(60));
}

TEST_CASE("where ranks share gradients only the copies of weights are late") {
  const LateTensors shared = late(StepGradients::freed, MixedPrecision::by_autocast, with(1, 3, RecomputeMode::full));
  CHECK(shared.gradients == Bytes(0));
  CHECK(shared.weights == Bytes(2 * parameters));
}

}  // namespace
}  // namespace plumbline
