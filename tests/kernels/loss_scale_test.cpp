#include "kernels/loss_scale.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

LossScaleState behind(const LossScaleRule& rule, LossScaleState state, std::initializer_list<bool> steps_taken) {
  for (const bool is_taken : steps_taken) state = next_loss_scale(rule, state, is_taken);
  return state;
}

// Interval 3 from 8: good, good, overflow -> 4; three good -> 8; three good -> 16.
TEST_CASE("An overflow halves and skips, N good steps in a row double") {
  const LossScaleRule rule{8, 1, 1024, 3};
  const LossScaleState start{8, 0, 0};
  CHECK(behind(rule, start, {true, true}) == LossScaleState{8, 2, 0});
  CHECK(behind(rule, start, {true, true, false}) == LossScaleState{4, 0, 1});
  CHECK(behind(rule, start, {true, true, false, true, true}) == LossScaleState{4, 2, 1});
  CHECK(behind(rule, start, {true, true, false, true, true, true}) == LossScaleState{8, 0, 1});
  CHECK(behind(rule, {8, 0, 1}, {true, true, true}) == LossScaleState{16, 0, 1});
}

TEST_CASE("The scale stays between its limits") {
  const LossScaleRule rule{2, 1, 4, 1};
  CHECK(behind(rule, {2, 0, 0}, {false, false, false, false, false}) == LossScaleState{1, 0, 5});
  CHECK(behind(rule, {1, 0, 0}, {true, true, true, true, true}).scale == 4.0);
}

}  // namespace
}  // namespace plumbline
