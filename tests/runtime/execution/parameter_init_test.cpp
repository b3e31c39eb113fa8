#include "runtime/execution/parameter_init.h"

#include <cmath>

#include "tests/catch.h"

namespace plumbline {
namespace {

double at(std::int64_t index, std::string_view name = "layer0.mlp.up.weight", std::uint64_t seed = 1) {
  return static_cast<double>(initial_value(InitialValues::normal, 0.02, seed, name, index));
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  double kurtosis = 0;
  double neighbours = 0;  ///< correlation of neighbours
};

Moments moments(std::int64_t count) {
  Moments m;
  for (std::int64_t i = 0; i < count; ++i) m.mean += at(i) / static_cast<double>(count);
  double second = 0;
  double fourth = 0;
  double product = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = at(i) - m.mean;
    second += x * x / static_cast<double>(count);
    fourth += x * x * x * x / static_cast<double>(count);
    product += x * (at(i + 1) - m.mean) / static_cast<double>(count);
  }
  return {m.mean, std::sqrt(second), fourth / (second * second), product / second};
}

}  // namespace

// Of n = 40000 normal numbers of deviation s: the mean lies within 4 s / sqrt(n), the deviation within 4 s / sqrt(2 n),
// the kurtosis within 4 sqrt(24 / n) of 3, the correlation of neighbours within 4 / sqrt(n) of 0.
TEST_CASE("parameters start normal with a standard deviation of 0.02") {
  const double n = 40'000;
  const Moments m = moments(40'000);
  CHECK(std::abs(m.mean) < 4 * 0.02 / std::sqrt(n));
  CHECK(std::abs(m.deviation - 0.02) < 4 * 0.02 / std::sqrt(2 * n));
  CHECK(std::abs(m.kurtosis - 3) < 4 * std::sqrt(24 / n));
  CHECK(std::abs(m.neighbours) < 4 / std::sqrt(n));
}

// A linear of 24 inputs and 8 outputs: Xavier 2 / 32 = 1/16, He 2 / 24 = 1/12, squared. Of three experts each one's
// matrix counts.
TEST_CASE("deviations of Xavier and He follow a matrix's inputs and outputs") {
  for (const std::int64_t experts : {1, 3}) {
    const TensorBox linear{{experts, 8, 24}};
    CHECK(initial_deviation(Initialisation::normal, linear) == 0.02);
    CHECK(initial_deviation(Initialisation::zero, linear) == 0);
    CHECK(initial_deviation(Initialisation::xavier, linear) == Approx(0.25));
    CHECK(initial_deviation(Initialisation::he, linear) == Approx(std::sqrt(1.0 / 12)));
  }
  CHECK(initial_value(InitialValues::normal, 0.04, 1, "w", 9) ==
        Approx(2 * initial_value(InitialValues::normal, 0.02, 1, "w", 9)));
  CHECK(initial_value(InitialValues::normal, 0, 1, "w", 9) == 0);
}

TEST_CASE("norms start at one, biases at zero") {
  CHECK(initial_value(InitialValues::ones, 0.02, 7, "final_norm.weight", 3) == 1);
  CHECK(initial_value(InitialValues::zeros, 0.02, 7, "attention.qkv.bias", 3) == 0);
}

TEST_CASE("a parameter's name, the seed and all 64 bits of the index decide an element, and nothing else does") {
  CHECK(at(5) == at(5));
  CHECK(at(5) != at(6));
  CHECK(at(5) != at(5 + (std::int64_t{1} << 32)));
  CHECK(at(5) != at(5, "layer1.mlp.up.weight"));
  CHECK(at(5) != at(5, "layer0.mlp.up.weight", 2));
  CHECK(at(5) != at(5, "layer0.mlp.up.weight", 1 + (std::uint64_t{1} << 32)));
}

}  // namespace plumbline
