#include "runtime/training/learning_rate.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Shape = LearningRateShape;

// Four steps of warm-up to 8: 2, 4, 6, 8; then every schedule is at its peak.
TEST_CASE("Warm-up is a straight line that reaches the peak with its last step") {
  for (const Shape shape : all_learning_rate_shapes) {
    const LearningRateSchedule s{shape, 8, 0, 12, 4, shape == Shape::stable_then_decay ? 4 : 0, 0.5, 3};
    CHECK(learning_rate(s, 0) == 2.0);
    CHECK(learning_rate(s, 1) == 4.0);
    CHECK(learning_rate(s, 3) == 8.0);
    if (shape != Shape::inverse_square_root) CHECK(learning_rate(s, 4) == 8.0);
  }
}

TEST_CASE("A constant rate stays") {
  const LearningRateSchedule s{Shape::constant, 3, 0, 100, 0, 0};
  for (const std::int64_t step : {0, 50, 99, 1000}) CHECK(learning_rate(s, step) == 3.0);
}

// From 8 to 2 over 8 steps after 4 of warm-up: cos of 0, 60, 90 and 180 degrees at fractions 0, 1/3, 1/2 and 1 gives
// 8, 2 + 6 * 3/4 = 6.5, 5 and 2. A third of the way is step 2 of 6 steps.
TEST_CASE("The cosine falls through the values of its quarter turns") {
  const LearningRateSchedule s{Shape::cosine, 8, 2, 12, 4, 0};
  CHECK(learning_rate(s, 4) == 8.0);
  CHECK(learning_rate(s, 8) == Approx(5.0));
  CHECK(learning_rate(s, 12) == Approx(2.0));
  CHECK(learning_rate(s, 500) == Approx(2.0));
  CHECK(learning_rate({Shape::cosine, 8, 2, 6, 0, 0}, 2) == Approx(6.5));
}

// From 8 to 2 over 8 steps after 4 of warm-up: 6 / 8 less in each step.
TEST_CASE("The line falls by as much in each step") {
  const LearningRateSchedule s{Shape::linear, 8, 2, 12, 4, 0};
  CHECK(learning_rate(s, 5) == 7.25);
  CHECK(learning_rate(s, 8) == 5.0);
  CHECK(learning_rate(s, 12) == 2.0);
  CHECK(learning_rate(s, 500) == 2.0);
}

// Steps 6 to 9 are the decay of 4 steps from 8 to 0: 8, 6, 4, 2 (the step after the last would be 0).
TEST_CASE("Stable, then decay") {
  const LearningRateSchedule s{Shape::stable_then_decay, 8, 0, 10, 2, 4};
  CHECK(learning_rate(s, 5) == 8.0);
  CHECK(learning_rate(s, 6) == 8.0);
  CHECK(learning_rate(s, 7) == 6.0);
  CHECK(learning_rate(s, 9) == 2.0);
  CHECK(learning_rate(s, 10) == 0.0);
}

// After 4 steps of warm-up the 16th step has half the peak, the 64th a quarter.
TEST_CASE("Inverse square root") {
  const LearningRateSchedule s{Shape::inverse_square_root, 8, 0, 100, 4, 0};
  CHECK(learning_rate(s, 15) == 4.0);
  CHECK(learning_rate(s, 63) == 2.0);
  CHECK(learning_rate({Shape::inverse_square_root, 8, 0, 100, 0, 0}, 3) == 4.0);
}

// After 4 steps of warm-up to 8: a factor of 1/2 each step.
TEST_CASE("Exponential: each step the same share of the one before") {
  const LearningRateSchedule s{Shape::exponential, 8, 0, 12, 4, 0, 0.5};
  for (const auto& [step, rate] : {std::pair{4, 8.0}, {5, 4.0}, {7, 1.0}, {12, 0.03125}, {500, 0.03125}})
    CHECK(learning_rate(s, step) == rate);
}

// The same with 3 steps at each rate: steps 4 to 6, 7 to 9, 10 and on.
TEST_CASE("Step: the rate stays for as many steps, then falls by a factor") {
  const LearningRateSchedule s{Shape::step, 8, 0, 12, 4, 0, 0.5, 3};
  for (const auto& [step, rate] : {std::pair{4, 8.0}, {6, 8.0}, {7, 4.0}, {9, 4.0}, {10, 2.0}, {11, 2.0}, {500, 2.0}})
    CHECK(learning_rate(s, step) == rate);
}

TEST_CASE("No schedule rises after its warm-up or leaves [final, peak]") {
  for (const Shape shape : all_learning_rate_shapes) {
    const LearningRateSchedule s{shape, 1e-3, 1e-4, 200, 20, shape == Shape::stable_then_decay ? 50 : 0, 0.99, 50};
    for (std::int64_t step = 20; step < 200; ++step) {
      REQUIRE(learning_rate(s, step) <= learning_rate(s, step - 1));
      REQUIRE(learning_rate(s, step) >= 1e-4);
    }
  }
}

TEST_CASE("Schedules that make no sense are refused") {
  const auto refused = [](const LearningRateSchedule& s) {
    try {
      check_learning_rate(s, "--lr");
    } catch (const InputError& error) {
      return std::string(error.what()).starts_with("--lr: ");
    }
    return false;
  };
  CHECK_FALSE(refused({Shape::cosine, 1, 0, 10, 4, 6}));
  CHECK(refused({Shape::cosine, -1, 0, 10, 0, 0}));
  CHECK(refused({Shape::cosine, std::numeric_limits<double>::quiet_NaN(), 0, 10, 0, 0}));
  CHECK(refused({Shape::cosine, 1, 2, 10, 0, 0}));
  CHECK(refused({Shape::cosine, 1, 0, 0, 0, 0}));
  CHECK(refused({Shape::cosine, 1, 0, 10, 11, 0}));
  CHECK(refused({Shape::stable_then_decay, 1, 0, 10, 5, 6}));
  CHECK(refused({Shape::stable_then_decay, 1, 0, 10, 0, -1}));
  CHECK(refused({Shape::exponential, 1, 0, 10, 0, 0, 1.1}));
  CHECK(refused({Shape::exponential, 1, 0, 10, 0, 0, -0.1}));
  CHECK(refused({Shape::step, 1, 0, 10, 0, 0, 0.1, 0}));
}

}  // namespace
}  // namespace plumbline
