#include "kernels/reductions.h"

#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/number_conversion.h"
#include "kernels/quantize.h"
#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

TEST_CASE("A sum of squares keeps the digits of a double") {
  const KernelTensor x = random_tensor(7, 1000, 1, NumberFormat::bf16);
  long double exact = 0;
  for (const float v : x.values()) exact += static_cast<long double>(v) * static_cast<long double>(v);
  CHECK(reference::sum_of_squares(x) == Approx(static_cast<double>(exact)).epsilon(1e-13));
}

TEST_CASE("One infinity or NaN anywhere is found; large numbers are not mistaken for one") {
  for (const std::size_t at : {std::size_t{0}, std::size_t{511}, std::size_t{512}, std::size_t{1999}})
    for (const float bad : {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> values(2000, 3e38F);
      CHECK_FALSE(reference::has_non_finite(KernelTensor(values, 2, 1000)));
      values[at] = bad;
      CHECK(reference::has_non_finite(KernelTensor(values, 2, 1000)));
    }
  CHECK(reference::has_non_finite(KernelTensor(std::vector<float>{70000.0F}, 1, 1, NumberFormat::fp16)));
}

// 1 + 4, then 9 + 16 on top; the third tensor has what is not a number.
TEST_CASE("The health of gradients adds up over tensors, and one bad element stays known") {
  TensorHealth sum;
  reference::add_health({KernelTensor(std::vector<float>{1, -2}, 1, 2), &sum});
  reference::add_health({KernelTensor(std::vector<float>{3, 4}, 2, 1), &sum});
  CHECK(sum.sum_of_squares == 30);
  CHECK(sum.has_non_finite == 0);
  reference::add_health({KernelTensor(std::vector<float>{std::numeric_limits<float>::quiet_NaN()}, 1, 1), &sum});
  reference::add_health({KernelTensor(std::vector<float>{1}, 1, 1), &sum});
  CHECK(sum.has_non_finite == 1);
}

TEST_CASE("The scale of a tensor is that of its largest magnitude") {
  float scale = 0;
  reference::fp8_scale({KernelTensor(std::vector<float>{1, -7}, 1, 2), NumberFormat::fp8_e4m3, &scale});
  CHECK(scale == 0x1p-6F);  // 7 / 448
}

/// Rows 7 and 448 at most, columns 448, 7 and 0: each scale is that over 448, 1 where there is nothing to scale.
TEST_CASE("Scales of rows and columns are those of their own largest magnitudes, and codes are read with them") {
  const std::vector<float> values{1, -7, 0, -448, 0.5F, 0};
  const KernelTensor x(values, 2, 3);
  for (const auto& [of, expected] : {std::pair(ScaleOf::row, std::vector<float>{0x1p-6F, 1}),
                                     {ScaleOf::column, std::vector<float>{1, 0x1p-6F, 1}}}) {
    std::vector<float> scales(expected.size(), 99);
    reference::fp8_scale({x, NumberFormat::fp8_e4m3, scales.data(), of});
    CHECK(scales == expected);
    KernelTensor codes(2, 3, NumberFormat::fp8_e4m3);
    TensorView scaled = codes.view();
    scaled.scale = scales.data();
    scaled.scale_of = of;
    reference::cast({x, scaled});
    KernelTensor back(2, 3);
    reference::cast({scaled, back});
    CHECK(back.values() == values);
    CHECK(reference::load_one(scaled.rows_from(1, 1), 0, 0) == -448);
    CHECK(reference::load_one(scaled.columns_from(1, 2), 0, 0) == -7);
  }
}

/// Without them 1e-4 beside 448 would be 0 in e4m3, whose smallest number is 2^-9.
TEST_CASE("A row's outlier costs other rows no digits") {
  const KernelTensor x(std::vector<float>{448, 1, 1e-4F, 2e-4F}, 2, 2);
  for (const auto& [of, expected] : {std::pair(ScaleOf::tensor, 0.0F), {ScaleOf::row, 2e-4F}}) {
    std::vector<float> scales(2);
    reference::fp8_scale({x, NumberFormat::fp8_e4m3, scales.data(), of});
    KernelTensor codes(2, 2, NumberFormat::fp8_e4m3);
    TensorView scaled = codes.view();
    scaled.scale = scales.data();
    scaled.scale_of = of;
    reference::cast({x, scaled});
    CHECK(reference::load_one(scaled, 1, 1) == Approx(expected));
  }
}

TEST_CASE("The largest magnitude is that of either sign") {
  CHECK(reference::largest_magnitude(KernelTensor(std::vector<float>{1, -7.5F, 3}, 1, 3)) == 7.5F);
  CHECK(reference::largest_magnitude(KernelTensor(2, 2)) == 0.0F);
}

TEST_CASE("fp8 with a scale stores the largest magnitude exactly and the rest within half a step") {
  for (const auto& [format, half_step] :
       {std::pair{NumberFormat::fp8_e4m3, 0x1p-4}, std::pair{NumberFormat::fp8_e5m2, 0x1p-3}}) {
    const KernelTensor x = random_tensor(4, 300, 1, NumberFormat::fp32, 1e-3);
    const float amax = reference::largest_magnitude(x);
    const float scale = reference::fp8_scale(format, amax);
    KernelTensor codes(4, 300, format);
    TensorView scaled = codes.view();
    scaled.scale = &scale;
    reference::cast({x, scaled});
    KernelTensor back(4, 300);
    reference::cast({scaled, back});
    CHECK(reference::largest_magnitude(back) == Approx(amax).epsilon(1e-6));
    const double smallest = static_cast<double>(scale) * (format == NumberFormat::fp8_e4m3 ? 0x1p-6 : 0x1p-14);
    for (std::size_t i = 0; i < 1200; ++i) {
      const double exact = x.values()[i];
      REQUIRE(std::abs(static_cast<double>(back.values()[i]) - exact) <=
              half_step * std::max(std::abs(exact), smallest) * (1 + 1e-6));
    }
  }
}

TEST_CASE("An amax from earlier steps saturates what has grown, and no amax means no scale") {
  const float scale = reference::fp8_scale(NumberFormat::fp8_e4m3, 1.0F);
  KernelTensor code(1, 2, NumberFormat::fp8_e4m3);
  TensorView view = code.view();
  view.scale = &scale;
  reference::cast({KernelTensor(std::vector<float>{2.0F, -0.5F}, 1, 2), view});
  CHECK(reference::load_one(view, 0, 0) == Approx(1.0F));
  CHECK(reference::load_one(view, 0, 1) == Approx(-0.5F));
  CHECK(reference::fp8_scale(NumberFormat::fp8_e5m2, 0.0F) == 1.0F);
  CHECK(reference::fp8_scale(NumberFormat::fp8_e5m2, std::numeric_limits<float>::infinity()) == 1.0F);
  CHECK_THROWS_AS(reference::fp8_scale(NumberFormat::bf16, 1.0F), InternalError);
}

}  // namespace
}  // namespace plumbline
