#include "kernels/stochastic_rounding.h"

#include <cmath>
#include <limits>
#include <set>

#include "kernels/sgd.h"
#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

std::uint32_t word(std::uint32_t i) { return philox({i, 0, 0, 0}, {1, 2})[0]; }

/// Mean of many draws, and what was drawn.
struct Drawn {
  double mean = 0;
  std::set<float> values;
};
Drawn drawn(float value, NumberFormat format, std::uint32_t draws) {
  Drawn all;
  for (std::uint32_t i = 0; i < draws; ++i) {
    const float rounded = stochastically_rounded(value, format, word(i));
    all.mean += static_cast<double>(rounded) / draws;
    all.values.insert(rounded);
  }
  return all;
}

// Neighbours of bf16 near 1 are 2^-7 apart, of fp16 2^-10; near 2^-20 fp16's are 2^-24 apart. A mean of n draws of two
// values errs by at most distance / (2 sqrt(n)) in one standard deviation; four are allowed.
TEST_CASE("a draw is one of two neighbours, and its mean is the number") {
  constexpr std::uint32_t draws = 20'000;
  struct Case {
    float value;
    NumberFormat format;
    float distance;
  };
  const Case cases[] = {{1.003F, NumberFormat::bf16, 0x1p-7F},         {-1.003F, NumberFormat::bf16, 0x1p-7F},
                        {1.0003F, NumberFormat::fp16, 0x1p-10F},       {-700.3F, NumberFormat::fp16, 0x1p-1F},
                        {0x1.3p-22F, NumberFormat::fp16, 0x1p-24F},    {-0x1.234p-20F, NumberFormat::fp16, 0x1p-24F},
                        {0x1.01p-126F, NumberFormat::bf16, 0x1p-133F}, {0x1.8p-26F, NumberFormat::fp16, 0x1p-24F}};
  for (const auto& [value, format, distance] : cases) {
    INFO(value << " in " << to_text(format));
    const Drawn all = drawn(value, format, draws);
    REQUIRE(all.values.size() == 2);
    const float below = *all.values.begin();
    const float above = *all.values.rbegin();
    CHECK(above - below == distance);
    CHECK(below < value);
    CHECK(value < above);
    CHECK(std::abs(all.mean - static_cast<double>(value)) < 4 * static_cast<double>(distance) / 2 / std::sqrt(draws));
  }
}

TEST_CASE("numbers of the format, of fp32, and what is not finite stay") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::uint32_t i = 0; i < 50; ++i) {
    for (const float value : {0.0F, -0.0F, 1.0F, -1.5F, 0x1p-24F, 65504.0F, infinity, -infinity})
      CHECK(std::bit_cast<std::uint32_t>(stochastically_rounded(value, NumberFormat::fp16, word(i))) ==
            std::bit_cast<std::uint32_t>(value));
    CHECK(stochastically_rounded(1.5F, NumberFormat::bf16, word(i)) == 1.5F);
    CHECK(stochastically_rounded(1.0003F, NumberFormat::fp32, word(i)) == 1.0003F);
    CHECK(std::isnan(stochastically_rounded(std::numeric_limits<float>::quiet_NaN(), NumberFormat::bf16, word(i))));
  }
}

OptimizedParameter parameter(KernelTensor& weight, KernelTensor& gradient, const StochasticRounding& rounding) {
  return {.parameter = weight.view(), .gradient = gradient.view(), .learning_rate = 1e-4F, .rounding = rounding};
}

// 1 - 1e-4 is nearer to 1 than to the number below it, 1 - 2^-8, in bf16: no step of SGD ever moves it. By a draw
// 1000 steps of 1e-4 move the mean of 600 weights by 0.1.
TEST_CASE("updates below half the distance between weights are not lost") {
  for (const bool is_on : {false, true}) {
    KernelTensor weight(std::vector<float>(600, 1.0F), 1, 600, NumberFormat::bf16);
    KernelTensor gradient(std::vector<float>(600, 1.0F), 1, 600, NumberFormat::bf16);
    StochasticRounding rounding{.is_on = is_on, .box = {{1, 1, 600}, {0, 0, 0}, {1, 1, 600}}};
    for (rounding.seed = 0; rounding.seed < 1000; ++rounding.seed)
      reference::sgd_step({.parameter = parameter(weight, gradient, rounding)});
    double mean = 0;
    for (const float value : weight.values()) mean += static_cast<double>(value) / 600;
    CHECK(mean == Approx(is_on ? 0.9 : 1.0).epsilon(0.01));
  }
}

// A matrix of 6 by 10 in four boxes of 3 by 5, each updated in two slices.
TEST_CASE("draws follow the element of the whole tensor, whatever slices it is updated in") {
  KernelTensor whole = random_tensor(6, 10, 1, NumberFormat::bf16);
  KernelTensor gradient = random_tensor(6, 10, 2, NumberFormat::bf16);
  std::vector<float> before = whole.values();
  const std::vector<float> of_gradient = gradient.values();
  const StochasticRounding rounding{
      .is_on = true, .seed = 5, .parameter = 77, .box = {{1, 6, 10}, {0, 0, 0}, {1, 6, 10}}};
  reference::sgd_step({.parameter = parameter(whole, gradient, rounding)});
  const std::vector<float> expected = whole.values();
  for (const std::int64_t row : {0, 3})
    for (const std::int64_t column : {0, 5}) {
      StochasticRounding of_box = rounding;
      of_box.box.begin = {0, row, column};
      of_box.box.extent = {1, 3, 5};
      for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 7}, {7, 8}}) {
        std::vector<float> weights;
        std::vector<float> gradients;
        std::vector<float> wanted;
        for (std::int64_t i = first; i < first + count; ++i) {
          const auto at = static_cast<std::size_t>(of_box.box.whole_index(i));
          weights.push_back(before[at]);
          gradients.push_back(of_gradient[at]);
          wanted.push_back(expected[at]);
        }
        of_box.first = first;
        KernelTensor w(weights, 1, count, NumberFormat::bf16);
        KernelTensor g(gradients, 1, count, NumberFormat::bf16);
        reference::sgd_step({.parameter = parameter(w, g, of_box)});
        CHECK(w.values() == wanted);
      }
    }
}

}  // namespace
}  // namespace plumbline
