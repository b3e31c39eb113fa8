#include "runtime/training/loss_scale.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using enum GradientHealth;

// Interval 3 from 8: good, good, overflow -> 4; three good -> 8; three good -> 16.
TEST_CASE("An overflow halves and skips, N good steps in a row double") {
  DynamicLossScale scale({8, 1, 1024, 3});
  CHECK(scale.update(finite));
  CHECK(scale.update(finite));
  CHECK_FALSE(scale.update(overflow));
  CHECK(scale.scale() == 4.0);
  CHECK(scale.update(finite));
  CHECK(scale.update(finite));
  CHECK(scale.scale() == 4.0);
  CHECK(scale.update(finite));
  CHECK(scale.scale() == 8.0);
  for (int i = 0; i < 3; ++i) CHECK(scale.update(finite));
  CHECK(scale.state() == LossScaleState{16, 0, 1});
}

TEST_CASE("The scale stays between its limits") {
  DynamicLossScale low({2, 1, 4, 1});
  for (int i = 0; i < 5; ++i) CHECK_FALSE(low.update(overflow));
  CHECK(low.scale() == 1.0);
  for (int i = 0; i < 5; ++i) CHECK(low.update(finite));
  CHECK(low.scale() == 4.0);
}

TEST_CASE("A resumed scale goes on as if it had not stopped") {
  const LossScaleRule rule{8, 1, 1024, 4};
  DynamicLossScale whole(rule);
  for (int i = 0; i < 3; ++i) CHECK(whole.update(finite));
  DynamicLossScale resumed(rule, whole.state());
  CHECK(whole.update(finite));
  CHECK(resumed.update(finite));
  CHECK(resumed.state() == whole.state());
  CHECK(resumed.scale() == 16.0);
}

TEST_CASE("Rules that make no sense are refused") {
  CHECK_THROWS_AS(DynamicLossScale({3, 1, 8, 1}), InputError);
  CHECK_THROWS_AS(DynamicLossScale({16, 1, 8, 1}), InputError);
  CHECK_THROWS_AS(DynamicLossScale({4, 8, 16, 1}), InputError);
  CHECK_THROWS_AS(DynamicLossScale({4, 1, 16, 0}), InputError);
  CHECK_THROWS_AS(DynamicLossScale({4, 1, 16, 1}, {5, 0, 0}), InputError);
}

}  // namespace
}  // namespace plumbline
