#include "kernels/cuda/half_products.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

struct HalfCase {
  std::int64_t m = 1, n = 1, k = 1;
  NumberFormat operands = NumberFormat::bf16;
  NumberFormat result = NumberFormat::bf16;
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;
  std::int64_t gap = 0;  ///< 8: rows begin at multiples of 16 bytes where the sizes do
};

/// By the CPU in fp32, and by the device through the table's function, which must take the tensor cores.
void check_product(cudaStream_t stream, const HalfCase& c, bool has_bias, Write write) {
  const bool is_a = c.a == Transpose::yes;
  const bool is_b = c.b == Transpose::yes;
  BothTensor a = random_both(is_a ? c.k : c.m, is_a ? c.m : c.k, 1, c.operands, c.gap);
  BothTensor b = random_both(is_b ? c.n : c.k, is_b ? c.k : c.n, 2, c.operands, c.gap);
  BothTensor result = random_both(c.m, c.n, 3, c.result, 3);
  BothTensor bias = random_both(1, c.n, 4, c.result);
  Matmul host{a.host(), b.host(), result.host(), c.a, c.b, {}, write};
  Matmul device{a.device(), b.device(), result.device(), c.a, c.b, {}, write};
  if (has_bias) host.bias = bias.host();
  if (has_bias) device.bias = bias.device();
  WorkspaceMemory memory(reference::matmul_workspace(host));
  host.workspace = memory;
  reference::matmul(host);
  REQUIRE(cuda::takes_half_product({.a = device.a, .b = device.b, .c = device.c, .bias = device.bias}));
  cuda::matmul(device, stream);
  finish(stream);
  CHECK(result.error() <= 4 * tolerance(c.result));
}

TEST_CASE("tensor cores multiply as the CPU does, for odd sizes, all transpositions, aligned rows and others") {
  on_both([](cudaStream_t stream) {
    using F = NumberFormat;
    for (const Transpose a : {Transpose::no, Transpose::yes})
      for (const Transpose b : {Transpose::no, Transpose::yes}) {
        check_product(stream, {5, 3, 67, F::bf16, F::fp32, a, b}, true, Write::accumulate);
        check_product(stream, {136, 72, 40, F::fp16, F::fp16, a, b, 8}, true, Write::overwrite);
        check_product(stream, {67, 131, 33, F::bf16, F::bf16, a, b, 1}, false, Write::accumulate);
        check_product(stream, {1, 1, 1, F::fp16, F::fp32, a, b}, false, Write::overwrite);
      }
    check_product(stream, {200, 16, 136, F::bf16, F::fp32, Transpose::no, Transpose::yes, 8}, false, Write::overwrite);
  });
}

TEST_CASE("tensor cores leave products of other formats, and of two formats, to the kernel for any format") {
  const cuda_on_cpu::TestDevice device;
  BothTensor half = random_both(3, 5, 1, NumberFormat::bf16);
  BothTensor other = random_both(3, 5, 1, NumberFormat::fp16);
  BothTensor wide = random_both(3, 5, 1);
  cuda::Product p{.a = half.device(), .b = half.device(), .c = wide.device()};
  CHECK(cuda::takes_half_product(p));
  p.b = other.device();
  CHECK(!cuda::takes_half_product(p));
  p.a = p.b = wide.device();
  CHECK(!cuda::takes_half_product(p));
}

}  // namespace
}  // namespace plumbline
