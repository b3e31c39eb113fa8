#include "kernels/reference/elementary.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("exp is within 2 ulp where its result is a normal number") {
  double worst = 0;
  for (int i = -870000; i <= 887000; ++i) {
    const float x = static_cast<float>(i) * 1e-4F;
    const double exact = std::exp(static_cast<double>(x));
    const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst = std::max(worst, std::abs(static_cast<double>(reference::exp_of(x)) - exact) / ulp);
  }
  CAPTURE(worst);
  CHECK(worst < 2.0);
}

TEST_CASE("exp of what is out of range is zero, infinity or no number") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(reference::exp_of(-infinity) == 0.0F);
  CHECK(reference::exp_of(-1e30F) == 0.0F);
  CHECK(reference::exp_of(89.0F) == infinity);
  CHECK(reference::exp_of(infinity) == infinity);
  CHECK(std::isnan(reference::exp_of(std::numeric_limits<float>::quiet_NaN())));
  CHECK(reference::exp_of(0.0F) == 1.0F);
}

// In half ulps: a rounded x^2 / 2 moves e^(-x^2 / 2) by its size, exp itself misses by 4, and polynomial, division and
// two products by 4. Above zero that is an error of at most half.
TEST_CASE("The normal distribution keeps its digits in both tails") {
  double worst = 0;
  double worst_above = 0;
  for (int i = -130000; i <= 130000; ++i) {
    const float x = static_cast<float>(i) * 1e-4F;
    const double wide = x;
    const double exact = 0.5 * std::erfc(-wide / std::sqrt(2.0));
    const reference::NormalDistribution got = reference::normal_distribution_of(x);
    const double error = std::abs(static_cast<double>(got.below) - exact);
    if (x < 0) worst = std::max(worst, error / exact / ((8.0 + wide * wide / 2.0) * 0x1p-24));
    if (x >= 0) worst_above = std::max(worst_above, error / 0x1p-24);
  }
  CAPTURE(worst, worst_above);
  CHECK(worst < 1.0);
  CHECK(worst_above < 4.5);  // and the rounding of 1 minus it
  CHECK(reference::normal_distribution_of(-14.0F).below == 0.0F);
  CHECK(reference::normal_distribution_of(6.0F).below == 1.0F);
  CHECK(reference::normal_distribution_of(0.0F).below == Approx(0.5).epsilon(1.2e-7));
  CHECK(std::isnan(reference::normal_distribution_of(std::numeric_limits<float>::quiet_NaN()).below));
}

TEST_CASE("Sine and cosine are those of the double, rounded, for angles of any position") {
  double worst = 0;
  for (int i = -200000; i < 200000; ++i) {
    const double angle = static_cast<double>(static_cast<float>(i) * 7.31F);
    const reference::SineCosine got = reference::sine_cosine_of(angle);
    worst = std::max({worst, std::abs(static_cast<double>(got.sine) - std::sin(angle)),
                      std::abs(static_cast<double>(got.cosine) - std::cos(angle))});
  }
  CAPTURE(worst);
  CHECK(worst < 0x1p-24);
}

}  // namespace
}  // namespace plumbline
