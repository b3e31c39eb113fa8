#include "kernels/elementwise.h"

#include "kernels/number_conversion.h"
#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

TEST_CASE("Sums and scalings are computed in fp32 and rounded once") {
  const KernelTensor a = random_tensor(3, 700, 1, NumberFormat::bf16);
  const KernelTensor b = random_tensor(3, 700, 2, NumberFormat::fp16);
  KernelTensor sum(3, 700, NumberFormat::bf16);
  KernelTensor half(3, 700, NumberFormat::fp16);
  reference::add({a, b, sum});
  reference::scale({a, half, 0.3F});
  for (std::size_t i = 0; i < 2100; ++i) {
    REQUIRE(sum.values()[i] == from_bf16(to_bf16(a.values()[i] + b.values()[i])));
    if (i % 50 == 0) REQUIRE(half.values()[i] == from_fp16(to_fp16(a.values()[i] * 0.3F)));
  }
  KernelTensor in_place = a;
  reference::add({in_place, b, in_place});
  CHECK(in_place.bytes() == sum.bytes());
}

TEST_CASE("A cast rounds, and back again changes nothing") {
  const KernelTensor x = random_tensor(4, 600, 1);
  KernelTensor narrow(4, 600, NumberFormat::fp16);
  KernelTensor wide(4, 600);
  reference::cast({x, narrow});
  reference::cast({narrow, wide});
  CHECK(wide.values() == narrow.values());
  CHECK(relative_error(wide.values(), x.values()) < 0x1p-11);
  CHECK(wide.values() != x.values());
}

TEST_CASE("A transpose of any shape and slice turns rows into columns") {
  const KernelTensor x = random_tensor(37, 100, 1, NumberFormat::bf16);
  const ConstTensorView slice = x.view().columns_from(13, 70);
  KernelTensor turned(70, 37);
  reference::transpose({slice, turned});
  for (std::int64_t r = 0; r < 37; ++r)
    for (std::int64_t c = 0; c < 70; ++c)
      REQUIRE(reference::load_one(turned, c, r) == reference::load_one(slice, r, c));
}

TEST_CASE("Filling a slice leaves its surroundings") {
  KernelTensor x(3, 4);
  reference::fill({x.view().rows_from(1, 1).columns_from(1, 2), 2.0F});
  CHECK(x.values() == std::vector<float>{0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0});
}

TEST_CASE("Tensors of different shapes are refused") {
  const KernelTensor a(2, 3);
  KernelTensor b(3, 2);
  CHECK_THROWS_AS(reference::cast({a, b}), InternalError);
  CHECK_THROWS_AS(reference::transpose({a, KernelTensor(2, 3)}), InternalError);
}

}  // namespace
}  // namespace plumbline
