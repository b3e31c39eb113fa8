#include "runtime/training/early_stopping.h"

#include <limits>

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("a run ends with the last of as many held-out losses in a row that are not the lowest") {
  EarlyStopping stopping(2);
  for (const double loss : {3.0, 2.0, 2.5, 1.5, 1.5}) CHECK_FALSE(stopping.ends_with(loss));
  CHECK(stopping.ends_with(1.75));
  CHECK(stopping.state() == EarlyStoppingState{1.5, 2});
}

TEST_CASE("without patience no run ends early") {
  EarlyStopping stopping(0);
  for (int i = 0; i < 100; ++i) CHECK_FALSE(stopping.ends_with(i));
}

TEST_CASE("a loss that is no number is no improvement") {
  EarlyStopping stopping(1);
  CHECK_FALSE(stopping.ends_with(1));
  CHECK(stopping.ends_with(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("a run that goes on counts on from what the first part saw") {
  EarlyStopping first(3);
  for (const double loss : {1.0, 2.0, 2.0}) CHECK_FALSE(first.ends_with(loss));
  EarlyStopping second(3, first.state());
  CHECK(second.ends_with(1.5));
}

}  // namespace
}  // namespace plumbline
