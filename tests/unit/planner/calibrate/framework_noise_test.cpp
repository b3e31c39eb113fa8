#include "planner/calibrate/framework_noise.h"

#include <cmath>

#include "planner/question/question.h"
#include "tests/catch.h"

using namespace plumbline;
using Catch::Matchers::WithinAbs;

namespace {

/// Two runs of a framework that are both off by as much where nothing was expected.
std::vector<LeftOutError> off_by(double error) { return {{error, 0.0}, {-error, 0.0}}; }

}  // namespace

// 95 % quantile of Student's t with 4 degrees of freedom: 2.132 (any table).
TEST_CASE("Few frameworks make wider intervals than the normal distribution") {
  const FrameworkNoise noise = framework_noise({off_by(0.1), off_by(0.1), off_by(0.1), off_by(0.1), off_by(0.1)});
  CHECK_THAT(noise.deviations, WithinAbs(2.132, 5e-4));
  CHECK_THAT(noise.variance, WithinAbs(0.01, 1e-12));
  CHECK_THAT(noise.sigma, WithinAbs(0.1 / deviations_90_percent, 1e-12));
  CHECK(framework_noise({off_by(0.1)}).deviations == deviations_90_percent);
}

// Nine tenths of the ten errors are at most 0.1, and the interval reaches 1.645 sigma.
TEST_CASE("What is stated of a framework covers nine tenths of all frameworks' runs") {
  const std::vector<LeftOutError> near(9, {0.1, 0.0});
  CHECK_THAT(framework_noise({near, {{0.1, 0.0}, {0.9, 0.0}}}).sigma, WithinAbs(0.1 / deviations_90_percent, 1e-12));
}

TEST_CASE("A framework counts once, however many runs it has, and none decides alone") {
  std::vector<LeftOutError> many;
  for (int i = 0; i < 100; ++i) many.push_back({0.02, 0.0});
  const double one = framework_noise({off_by(0.1), many, off_by(0.1)}).variance;
  CHECK_THAT(one, WithinAbs(0.01, 1e-12));
  CHECK_THAT(framework_noise({off_by(0.1), off_by(0.1), off_by(5.0)}).variance, WithinAbs(0.01, 1e-12));
}

TEST_CASE("What was expected of a framework's errors is not added again") {
  std::vector<LeftOutError> expected{{0.1, 0.01}, {-0.1, 0.01}};
  CHECK_THAT(framework_noise({expected, expected, expected}).variance, WithinAbs(0.0, 1e-12));
}
