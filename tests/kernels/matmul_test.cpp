#include "kernels/matmul.h"

#include "kernels/reference/sgemm.h"
#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};
constexpr std::array shapes{Shape{1, 1, 1}, Shape{3, 5, 7}, Shape{64, 64, 64}, Shape{33, 130, 257},
                            Shape{300, 270, 40}};
constexpr std::array both{Transpose::no, Transpose::yes};

KernelTensor operand(Transpose transpose, std::int64_t rows, std::int64_t columns, std::uint32_t seed, NumberFormat f) {
  return transpose == Transpose::no ? random_tensor(rows, columns, seed, f) : random_tensor(columns, rows, seed, f);
}

/// op(a) op(b) in double precision, and the sum of the terms' magnitudes, which scales the error of any fp32 sum.
struct Exact {
  std::vector<double> value;
  std::vector<double> magnitude;
};

Exact exact_product(const Shape& s, const std::vector<float>& a, Transpose ta, const std::vector<float>& b,
                    Transpose tb) {
  Exact exact;
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (std::int64_t k = 0; k < s.k; ++k) {
        const double x = a[static_cast<std::size_t>(ta == Transpose::no ? i * s.k + k : k * s.m + i)];
        const double y = b[static_cast<std::size_t>(tb == Transpose::no ? k * s.n + j : j * s.k + k)];
        sum += x * y;
        magnitude += std::abs(x * y);
      }
      exact.value.push_back(sum);
      exact.magnitude.push_back(magnitude);
    }
  return exact;
}

KernelTensor product(const Shape& s, const KernelTensor& a, Transpose ta, const KernelTensor& b, Transpose tb,
                     NumberFormat format) {
  KernelTensor c(s.m, s.n, format);
  Matmul args{.a = a, .b = b, .c = c, .transpose_a = ta, .transpose_b = tb};
  WorkspaceMemory memory(reference::matmul_workspace(args));
  args.workspace = memory;
  reference::matmul(args);
  return c;
}

TEST_CASE("A product of fp32 matrices is within inner * 2^-24 of its terms' magnitudes") {
  for (const Shape& s : shapes)
    for (const Transpose ta : both)
      for (const Transpose tb : both) {
        const KernelTensor a = operand(ta, s.m, s.k, 1, NumberFormat::fp32);
        const KernelTensor b = operand(tb, s.k, s.n, 2, NumberFormat::fp32);
        const Exact exact = exact_product(s, a.values(), ta, b.values(), tb);
        const std::vector<float> got = product(s, a, ta, b, tb, NumberFormat::fp32).values();
        for (std::size_t i = 0; i < got.size(); ++i)
          REQUIRE(std::abs(static_cast<double>(got[i]) - exact.value[i]) <=
                  static_cast<double>(s.k) * 0x1p-24 * exact.magnitude[i]);
      }
}

TEST_CASE("16-bit operands are widened exactly and the sum is rounded once") {
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp16})
    for (const Shape& s : shapes) {
      const KernelTensor a = operand(Transpose::yes, s.m, s.k, 1, format);
      const KernelTensor b = operand(Transpose::no, s.k, s.n, 2, format);
      const Exact exact = exact_product(s, a.values(), Transpose::yes, b.values(), Transpose::no);
      const std::vector<float> got = product(s, a, Transpose::yes, b, Transpose::no, format).values();
      const double half_step = format == NumberFormat::bf16 ? 0x1p-8 : 0x1p-11;
      for (std::size_t i = 0; i < got.size(); ++i)
        REQUIRE(std::abs(static_cast<double>(got[i]) - exact.value[i]) <=
                half_step * std::abs(exact.value[i]) + static_cast<double>(s.k) * 0x1p-23 * exact.magnitude[i]);
    }
}

TEST_CASE("A product into a 16-bit buffer adds in fp32 and rounds once; a bias is added before rounding") {
  const Shape s{5, 300, 9};
  const KernelTensor a = random_tensor(s.m, s.k, 1);
  const KernelTensor b = random_tensor(s.k, s.n, 2);
  const KernelTensor bias = random_tensor(1, s.n, 3);
  const std::vector<float> whole = product(s, a, Transpose::no, b, Transpose::no, NumberFormat::fp32).values();
  KernelTensor c = random_tensor(s.m, s.n, 4, NumberFormat::bf16);
  std::vector<float> expected = c.values();
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += whole[i] + bias.values()[i % 300];
  Matmul args{.a = a, .b = b, .c = c, .bias = bias, .write = Write::accumulate};
  WorkspaceMemory memory(reference::matmul_workspace(args));
  args.workspace = memory;
  reference::matmul(args);
  CHECK(c.values() == KernelTensor(expected, s.m, s.n, NumberFormat::bf16).values());
}

TEST_CASE("Views with a stride multiply as dense ones do") {
  KernelTensor wide = random_tensor(6, 40, 1);
  const KernelTensor b = random_tensor(8, 3, 2);
  const ConstTensorView slice = wide.view().columns_from(16, 8);
  KernelTensor dense(6, 8);
  for (std::int64_t r = 0; r < 6; ++r) reference::load_to(slice, r, 0, 8, dense.data() + r * 8);
  KernelTensor c(6, 3);
  KernelTensor expected(6, 3);
  reference::matmul({.a = slice, .b = b, .c = c});
  reference::matmul({.a = dense, .b = b, .c = expected});
  CHECK(relative_error(c.values(), expected.values()) < 1e-6);
}

TEST_CASE("tf32 operands are rounded when they are read") {
  KernelTensor a(std::vector<float>{1.0F + 0x1p-11F}, 1, 1, NumberFormat::tf32);
  KernelTensor b(std::vector<float>{1.0F}, 1, 1);
  KernelTensor c(1, 1);
  Matmul args{.a = a, .b = b, .c = c};
  WorkspaceMemory memory(reference::matmul_workspace(args));
  args.workspace = memory;
  reference::matmul(args);
  CHECK(c.values() == std::vector<float>{1.0F});
}

TEST_CASE("fp8 operands with their scales multiply as the numbers that they stand for") {
  const float a_scale = 0.25F;
  const float b_scale = 0.01F;
  KernelTensor a = random_tensor(9, 30, 1, NumberFormat::fp8_e4m3);
  KernelTensor b = random_tensor(7, 30, 2, NumberFormat::fp8_e5m2);
  std::vector<float> a_values = a.values();
  std::vector<float> b_values = b.values();
  for (float& v : a_values) v *= a_scale;
  for (float& v : b_values) v *= b_scale;
  ConstTensorView a_view = a.view();
  ConstTensorView b_view = b.view();
  a_view.scale = &a_scale;
  b_view.scale = &b_scale;
  KernelTensor c(9, 7);
  KernelTensor expected(9, 7);
  Matmul args{.a = a_view, .b = b_view, .c = c, .transpose_b = Transpose::yes};
  WorkspaceMemory memory(reference::matmul_workspace(args));
  args.workspace = memory;
  reference::matmul(args);
  reference::matmul({.a = KernelTensor(a_values, 9, 30),
                     .b = KernelTensor(b_values, 7, 30),
                     .c = expected,
                     .transpose_b = Transpose::yes});
  CHECK(relative_error(c.values(), expected.values()) < 1e-6);
}

/// c[i, j] = a_scales[i] b_scales[j] of the sum of codes: powers of two and small whole numbers, so that all is exact.
TEST_CASE("fp8 operands with a scale for each row multiply as the numbers that they stand for, turned ones too") {
  const std::vector<float> a_codes{1, -2, 3, 4, 0, -1};
  const std::vector<float> b_codes{2, 1, -1, 3, 0, 4};
  const std::vector<float> a_scales{0.5F, 4};
  const std::vector<float> b_scales{0.25F, 8};
  // Codes' sums: [1, -2, 3] [2, 1, -1] = -3, [1, -2, 3] [3, 0, 4] = 15, [4, 0, -1] [2, 1, -1] = 9, ... [3, 0, 4] = 8.
  const std::vector<float> expected{-3 * 0.5F * 0.25F, 15 * 0.5F * 8, 9 * 4 * 0.25F, 8 * 4 * 8};
  KernelTensor a(a_codes, 2, 3, NumberFormat::fp8_e4m3);
  KernelTensor a_turned(std::vector<float>{1, 4, -2, 0, 3, -1}, 3, 2, NumberFormat::fp8_e4m3);
  KernelTensor b(b_codes, 2, 3, NumberFormat::fp8_e5m2);
  for (const Transpose turned : {Transpose::no, Transpose::yes}) {
    ConstTensorView a_view = turned == Transpose::no ? a.view() : a_turned.view();
    ConstTensorView b_view = b.view();
    a_view.scale = a_scales.data();
    a_view.scale_of = turned == Transpose::no ? ScaleOf::row : ScaleOf::column;
    b_view.scale = b_scales.data();
    b_view.scale_of = ScaleOf::row;
    KernelTensor c(2, 2);
    Matmul args{.a = a_view, .b = b_view, .c = c, .transpose_a = turned, .transpose_b = Transpose::yes};
    WorkspaceMemory memory(reference::matmul_workspace(args));
    args.workspace = memory;
    reference::matmul(args);
    CHECK(c.values() == expected);
  }
}

TEST_CASE("Our own loops multiply as the library does, whichever that is") {
  for (const Shape& s : shapes) {
    KernelTensor a = random_tensor(s.k, s.m, 1);
    KernelTensor b = random_tensor(s.n, s.k, 2);
    KernelTensor own = random_tensor(s.m, s.n, 3);
    KernelTensor library = random_tensor(s.m, s.n, 3);
    reference::Sgemm p{Transpose::yes, Transpose::yes, s.m, s.n, s.k, 0.5F, a.data(), s.m, b.data(), s.k};
    p.beta = 2.0F;
    p.ldc = s.n;
    p.c = own.data();
    reference::naive_sgemm(p);
    p.c = library.data();
    reference::sgemm(p);
    CHECK(relative_error(own.values(), library.values()) < 1e-5);
  }
}

TEST_CASE("An empty inner dimension gives zeros, or leaves what is added to") {
  const KernelTensor a(3, 0);
  const KernelTensor b(0, 4);
  KernelTensor c = random_tensor(3, 4, 1);
  const std::vector<float> before = c.values();
  reference::matmul({.a = a, .b = b, .c = c, .write = Write::accumulate});
  CHECK(c.values() == before);
  reference::matmul({.a = a, .b = b, .c = c});
  CHECK(c.values() == std::vector<float>(12, 0.0F));
}

TEST_CASE("A workspace that is too small or shapes that disagree are refused") {
  KernelTensor a = random_tensor(4, 4, 1, NumberFormat::bf16);
  KernelTensor c(4, 4);
  CHECK_THROWS_AS(reference::matmul({.a = a, .b = a, .c = c}), InternalError);
  KernelTensor narrow(4, 3);
  CHECK_THROWS_AS(reference::matmul({.a = c, .b = c, .c = narrow}), InternalError);
}

}  // namespace
}  // namespace plumbline
