// Products whose sizes are odd, in parts that tensor cores take: they are the product.
#include "runtime/cuda/product_cuts.h"

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

constexpr std::int64_t odd = 1'029;  // a long dimension: 1 024 and 5

/// Rows begin at multiples of 16 bytes.
struct Operand {
  Operand(std::int64_t rows, std::int64_t columns, Transpose transpose, std::uint32_t seed, NumberFormat format)
      : is_turned(transpose == Transpose::yes),
        tensor(random_both(is_turned ? columns : rows, is_turned ? rows : columns, seed, format,
                           padded_by(is_turned ? rows : columns))) {}
  static std::int64_t padded_by(std::int64_t columns) { return (8 - columns % 8) % 8; }
  bool is_turned;
  BothTensor tensor;
};

struct Cut {
  std::int64_t m, n, k;
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;
  NumberFormat result = NumberFormat::fp32;
  Write write = Write::overwrite;
  std::size_t parts = 2;
};

void check_cut(const Cut& of) {
  const cuda_on_cpu::TestDevice renewed;
  const CudaDevice device(0, cuda_kernel_table());
  Operand a(of.m, of.k, of.a, 1, NumberFormat::bf16);
  Operand b(of.k, of.n, of.b, 2, NumberFormat::bf16);
  Operand c(of.m, of.n, Transpose::no, 3, of.result);
  Matmul on_host{a.tensor.host(), b.tensor.host(), c.tensor.host(), of.a, of.b, {}, of.write};
  Matmul on_device{a.tensor.device(), b.tensor.device(), c.tensor.device(), of.a, of.b, {}, of.write};
  CHECK(cut_product({on_device}).size() == of.parts);
  WorkspaceMemory memory(reference::matmul_workspace(on_host));
  on_host.workspace = memory;
  reference::matmul(on_host);
  on_device.workspace = device_workspace(cuda_kernel_table().matmul.workspace(on_device));
  cuda_kernel_table().matmul.run(on_device);
  cuda_on_cpu::require(cudaDeviceSynchronize());
  CHECK(c.tensor.error() <= 2 * tolerance(of.result));
}

TEST_CASE("a product with an odd dimension is its parts, whichever dimension and operand it is") {
  for (const NumberFormat result : {NumberFormat::fp32, NumberFormat::bf16})
    for (const Write write : {Write::overwrite, Write::accumulate}) {
      check_cut({24, odd, 16, Transpose::no, Transpose::yes, result, write});  // logits
      check_cut({24, 16, odd, Transpose::no, Transpose::no, result, write});   // their input's gradient
      check_cut({odd, 16, 24, Transpose::yes, Transpose::no, result, write});  // their weight's
      check_cut({odd, odd, odd, Transpose::no, Transpose::yes, result, write, 8});
    }
}

TEST_CASE("products that tensor cores take, short ones, fp32 ones and those whose rows are not aligned stay whole") {
  check_cut({24, 1'032, 16, Transpose::no, Transpose::no, NumberFormat::bf16, Write::overwrite, 1});
  check_cut({24, 29, 13, Transpose::no, Transpose::no, NumberFormat::bf16, Write::overwrite, 1});
  const cuda_on_cpu::TestDevice device;
  BothTensor wide = random_both(odd, odd, 1);
  CHECK(cut_product({{wide.device(), wide.device(), wide.device()}}).size() == 1);
  BothTensor dense = random_both(odd, odd, 1, NumberFormat::bf16);
  CHECK(cut_product({{dense.device(), dense.device(), dense.device()}}).size() == 1);
}

TEST_CASE("a bias goes with its columns, and keeps a sum whole") {
  const cuda_on_cpu::TestDevice device;
  Operand x(odd, odd, Transpose::no, 1, NumberFormat::bf16);
  Operand bias(1, odd, Transpose::no, 2, NumberFormat::bf16);
  Operand few(odd, 16, Transpose::no, 3, NumberFormat::bf16);
  Operand wide(16, odd, Transpose::no, 3, NumberFormat::bf16);
  const ProductCall sum{{x.tensor.device(), few.tensor.device(), few.tensor.device(), Transpose::no, Transpose::no,
                         bias.tensor.device().columns_from(0, 16)}};
  CHECK(cut_product(sum).size() == 1);
  const ProductCall columns{{few.tensor.device(), wide.tensor.device(), x.tensor.device(), Transpose::no, Transpose::no,
                             bias.tensor.device()}};
  const std::vector<ProductCall> parts = cut_product(columns);
  REQUIRE(parts.size() == 4);  // rows too
  CHECK(parts[1].matmul.bias.columns == 5);
  CHECK(parts[1].matmul.bias.data == bias.tensor.device().columns_from(1'024, 5).data);
}

}  // namespace
}  // namespace plumbline
