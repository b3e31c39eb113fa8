#include <chrono>

#include "runtime/cuda/matrix_products.h"

#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/refused_products.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/cuda/multiplied_product.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace {

using namespace multiplied_product;

std::vector<ProductCase> cases() {
  using F = NumberFormat;
  std::vector<ProductCase> all;
  for (const auto& [operands, result] : {std::pair(F::fp32, F::fp32),
                                         {F::tf32, F::fp32},
                                         {F::bf16, F::bf16},
                                         {F::bf16, F::fp32},
                                         {F::fp16, F::fp16},
                                         {F::fp16, F::fp32}})
    for (const auto& [a, b] : {std::pair(Transpose::no, Transpose::no),
                               {Transpose::no, Transpose::yes},
                               {Transpose::yes, Transpose::no},
                               {Transpose::yes, Transpose::yes}})
      for (const Write write : {Write::overwrite, Write::accumulate})
        for (const std::int64_t padding : {0, 5}) {
          all.push_back({operands, result, a, b, false, write, padding});
          all.push_back({operands, result, a, b, true, write, padding});
        }
  return all;
}

TEST_CASE("Products have the numbers of the reference, for every layout, format and epilogue") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  for (const ProductCase& one : cases()) {
    MultipliedProduct multiplied(device, one);
    INFO(to_text(product_shape({multiplied.on_device})));
    REQUIRE(products.run({multiplied.on_device}, current_stream()));
    const std::vector<std::byte> result = multiplied.downloaded(device);
    CHECK(result == multiplied.c.host);
  }
}

TEST_CASE("A plan is made once for a shape, and another one for less alignment, other strides or another epilogue") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  const int before = fake_cublaslt::heuristics_asked();
  const auto run = [&](const ProductCase& c) {
    MultipliedProduct multiplied(device, c);
    REQUIRE(products.run({multiplied.on_device}, current_stream()));
    device.finish_all();
  };
  for (int i = 0; i < 3; ++i) run({});
  CHECK(products.plans() == 1);
  run({.padding = 8});
  run({.has_bias = true});
  run({.write = Write::accumulate});
  CHECK(products.plans() == 4);
  MultipliedProduct shifted(device, {});
  shifted.on_device.a = shifted.on_device.a.rows_from(0, 1).columns_from(1, k - 1);
  shifted.on_device.b = shifted.on_device.b.rows_from(0, k - 1);
  shifted.on_device.c = shifted.on_device.c.rows_from(0, 1);
  REQUIRE(products.run({shifted.on_device}, current_stream()));
  CHECK(product_shape({shifted.on_device}).alignments[0] == 4);
  CHECK(products.plans() == 5);
  CHECK(fake_cublaslt::heuristics_asked() - before == 5);
}

TEST_CASE("A call of cuBLASLt that fails is named with the product and the status") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  const auto text_with = [&](const std::string& call) {
    MultipliedProduct multiplied(device, {});
    fake_cublaslt::fail_call(call, CUBLAS_STATUS_INTERNAL_ERROR);
    try {
      MatrixProducts made(cublaslt().functions, ProductTuning::first);
      (void)made.run({multiplied.on_device}, current_stream());
    } catch (const CudaError& failed) {
      return std::string(failed.what());
    }
    return std::string();
  };
  for (const char* const call :
       {"cublasLtCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulDescCreate", "cublasLtMatmulPreferenceCreate"})
    CHECK(text_with(call) == std::string(call) + ": internal error (status 14)");
  for (const std::string call : {"cublasLtMatmulDescSetAttribute", "cublasLtMatmulPreferenceSetAttribute"}) {
    const std::string text = text_with(call);
    INFO(text);
    CHECK(text.rfind(call + " of ", 0) == 0);
    CHECK(text.find(": internal error (status 14)") != std::string::npos);
  }
  cuda_on_cpu::fail_call("cudaGetDeviceProperties", 1, cudaErrorUnknown);
  try {
    const MatrixProducts made(cublaslt().functions, ProductTuning::first);
    FAIL("a device whose name is unknown has no plans");
  } catch (const CudaError& failed) {
    CHECK(std::string(failed.what()) == "cudaGetDeviceProperties: unknown error (error 999)");
  }
  CHECK(text_with("cublasLtMatmulAlgoGetHeuristic") ==
        "cublasLtMatmulAlgoGetHeuristic of 32 x 48 x 64 of fp32 and fp32 into fp32: internal error (status 14)");
  CHECK(text_with("cublasLtMatmul") ==
        "cublasLtMatmul of 32 x 48 x 64 of fp32 and fp32 into fp32: internal error (status 14)");
  MultipliedProduct mixed(device, {});
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::int8}) {
    mixed.on_device.b.format = format;
    CHECK(!products.run({mixed.on_device}, current_stream()));
  }
}

TEST_CASE("What cuBLASLt refuses for its types or the device goes to our kernels, and is counted once for a warning") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  for (const auto& [status, text] : {std::pair(CUBLAS_STATUS_INVALID_VALUE, "invalid value"),
                                     {CUBLAS_STATUS_ARCH_MISMATCH, "architecture mismatch"},
                                     {CUBLAS_STATUS_NOT_SUPPORTED, ""}}) {
    forget_refused_products();
    for (int rank = 0; rank < 2; ++rank) {
      MatrixProducts products(cublaslt().functions, ProductTuning::first);
      MultipliedProduct multiplied(device, {});
      fake_cublaslt::fail_call("cublasLtMatmulAlgoGetHeuristic", status);
      CHECK(!products.run({multiplied.on_device}, current_stream()));
      CHECK(!products.run({multiplied.on_device}, current_stream()));  // that there is none is kept
    }
    const std::string warning = refused_products_text();
    INFO(warning);
    CHECK(warning.empty() == (std::string(text).empty()));
    if (warning.empty()) continue;
    CHECK(warning.find("1 shape of") != std::string::npos);
    CHECK(warning.find(std::string("32 x 48 x 64 of fp32 and fp32 into fp32: ") + text) != std::string::npos);
  }
  forget_refused_products();
}

/// Sums of op(a)'s rows, in fp32 and whole numbers: exact.
TEST_CASE("The gradient of a bias is an epilogue of the product") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  MultipliedProduct multiplied(device, {.a = Transpose::yes});
  TestMatrix sums(device, NumberFormat::fp32, 1, m, 5);
  REQUIRE(products.run({multiplied.on_device, sums.on_device()}, current_stream()));
  std::vector<float> found(m);
  device.download(Stream::compute, found.data(), sums.memory.get(), Bytes(m * 4));
  device.finish_all();
  const auto* a = reinterpret_cast<const float*>(multiplied.a.host.data());
  for (std::int64_t row = 0; row < m; ++row) {
    float expected = 0;
    for (std::int64_t i = 0; i < k; ++i) expected += a[i * m + row];
    CHECK(found[static_cast<std::size_t>(row)] == expected);
  }
  CHECK(multiplied.downloaded(device) == multiplied.c.host);
  TestMatrix other(device, NumberFormat::bf16, 1, m, 5);
  CHECK(!products.run({multiplied.on_device, other.on_device()}, current_stream()));
}

TEST_CASE("Of the proposed algorithms the fastest is kept, for all ranks of a process, and nothing else is written") {
  using std::chrono::milliseconds;
  (void)cudaDeviceReset();
  cuda_on_cpu::set_device({.name = "a device of its own"});
  CudaDevice device(0, cpu_kernels());
  fake_cublaslt::set_algorithms({milliseconds(20), milliseconds(0), milliseconds(40)});
  MatrixProducts products(cublaslt().functions, ProductTuning::timed);
  const ProductCase adding{.write = Write::accumulate};
  MultipliedProduct multiplied(device, adding);
  const int before = fake_cublaslt::products_computed();
  REQUIRE(products.run({multiplied.on_device}, current_stream()));
  CHECK(products.choice({multiplied.on_device}) == 1);
  CHECK(multiplied.downloaded(device) == multiplied.c.host);  // added once
  CHECK(fake_cublaslt::products_computed() - before > 3);
  const int tuned = fake_cublaslt::products_computed();
  MatrixProducts of_other_rank(cublaslt().functions, ProductTuning::timed);
  MultipliedProduct again(device, adding);
  REQUIRE(of_other_rank.run({again.on_device}, current_stream()));
  device.finish_all();
  CHECK(of_other_rank.choice({again.on_device}) == 1);
  CHECK(fake_cublaslt::products_computed() == tuned + 1);
  MatrixProducts untimed(cublaslt().functions, ProductTuning::first);
  REQUIRE(untimed.run({again.on_device}, current_stream()));
  device.finish_all();
  CHECK(untimed.choice({again.on_device}) == 0);
  fake_cublaslt::set_algorithms(std::vector<milliseconds>(3, milliseconds(0)));
  cuda_on_cpu::set_device({});
}

TEST_CASE("Without memory to try algorithms in the first is taken") {
  using std::chrono::milliseconds;
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  fake_cublaslt::set_algorithms({milliseconds(5), milliseconds(0)});
  MatrixProducts products(cublaslt().functions, ProductTuning::timed);
  MultipliedProduct multiplied(device, {.padding = 2});
  cuda_on_cpu::set_capacity(cuda_on_cpu::allocated_bytes());
  REQUIRE(products.run({multiplied.on_device}, current_stream()));
  CHECK(products.choice({multiplied.on_device}) == 0);
  device.finish_all();
  (void)cudaDeviceReset();
  fake_cublaslt::set_algorithms(std::vector<milliseconds>(3, milliseconds(0)));
}

}  // namespace
}  // namespace plumbline
