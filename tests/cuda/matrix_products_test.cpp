#include "runtime/cuda/matrix_products.h"

#include <cstring>
#include <memory>
#include <random>

#include "kernels/number_conversion.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/refused_products.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace {

/// A matrix on the host and on the device, with more columns in memory than it has.
struct Matrix {
  Matrix(CudaDevice& device, NumberFormat of_format, std::int64_t rows, std::int64_t columns, unsigned seed,
         std::int64_t padding = 0)
      : format(of_format), stride(columns + padding) {
    const auto size = static_cast<std::size_t>(rows * stride * bits(format) / 8);
    host.resize(size);
    fill(seed);
    memory = device.reserve(Bytes(static_cast<std::int64_t>(size)));
    device.upload(Stream::compute, memory.get(), host.data(), Bytes(static_cast<std::int64_t>(size)));
    shape = {nullptr, format, rows, columns, stride, nullptr};
  }
  /// Small whole numbers: their products and sums are exact in every format here, in every order.
  void fill(unsigned seed) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < host.size() * 8 / static_cast<std::size_t>(bits(format)); ++i) put(i, random);
  }
  void put(std::size_t i, std::mt19937& random) {
    const float value = static_cast<float>(static_cast<int>(random() % 5) - 2);
    const Bf16Bits in_bf16 = to_bf16(value);
    const Fp16Bits in_fp16 = to_fp16(value);
    const Fp8Bits in_e4m3 = to_fp8_e4m3(value);
    switch (format) {
      case NumberFormat::bf16: std::memcpy(&host[i * 2], &in_bf16, 2); break;
      case NumberFormat::fp16: std::memcpy(&host[i * 2], &in_fp16, 2); break;
      case NumberFormat::fp8_e4m3: std::memcpy(&host[i], &in_e4m3, 1); break;
      default: std::memcpy(&host[i * 4], &value, 4);
    }
  }
  [[nodiscard]] TensorView on_host() { return {host.data(), format, shape.rows, shape.columns, stride, nullptr}; }
  [[nodiscard]] TensorView on_device() const {
    return {memory.get(), format, shape.rows, shape.columns, stride, nullptr};
  }

  NumberFormat format;
  std::int64_t stride;
  TensorView shape;
  std::vector<std::byte> host;
  DeviceMemory memory;
};

struct Case {
  NumberFormat operands = NumberFormat::fp32;
  NumberFormat result = NumberFormat::fp32;
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;
  bool has_bias = false;
  Write write = Write::overwrite;
  std::int64_t padding = 0;
};

constexpr std::int64_t m = 32, n = 48, k = 64;

struct Multiplied {
  explicit Multiplied(CudaDevice& device, const Case& of)
      : a(device, of.operands, of.a == Transpose::no ? m : k, of.a == Transpose::no ? k : m, 1, of.padding),
        b(device, of.operands, of.b == Transpose::no ? k : n, of.b == Transpose::no ? n : k, 2, of.padding),
        c(device, of.result, m, n, 3, of.padding),
        bias(device, of.result, 1, n, 4),
        scratch(device.reserve(MatrixProducts::workspace())),
        on_device{a.on_device(), b.on_device(),
                  c.on_device(), of.a,
                  of.b,          {},
                  of.write,      {scratch.get(), MatrixProducts::workspace()}},
        on_host{a.on_host(), b.on_host(), c.on_host(), of.a, of.b, {}, of.write} {
    if (!of.has_bias) return;
    on_device.bias = bias.on_device();
    on_host.bias = bias.on_host();
  }
  /// What the device has, once the reference has computed on the host.
  [[nodiscard]] std::vector<std::byte> downloaded(CudaDevice& device) {
    std::vector<std::byte> memory(static_cast<std::size_t>(reference::matmul_workspace(on_host).value()) + 64);
    void* begin = memory.data();
    std::size_t size = memory.size();
    on_host.workspace = {std::align(64, 1, begin, size), Bytes(static_cast<std::int64_t>(size))};
    reference::matmul(on_host);
    std::vector<std::byte> result(c.host.size());
    device.download(Stream::compute, result.data(), c.memory.get(), Bytes(std::ssize(result)));
    device.finish_all();
    return result;
  }

  Matrix a, b, c, bias;
  DeviceMemory scratch;
  Matmul on_device, on_host;
};

std::vector<Case> cases() {
  using F = NumberFormat;
  std::vector<Case> all;
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
  for (const Case& one : cases()) {
    Multiplied multiplied(device, one);
    INFO(to_text(product_shape({multiplied.on_device})));
    REQUIRE(products.run({multiplied.on_device}, current_stream()));
    const std::vector<std::byte> result = multiplied.downloaded(device);
    CHECK(result == multiplied.c.host);
  }
}

TEST_CASE("fp8 is multiplied with its inner dimension along rows, and by its scales") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  Case c{NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes};
  Multiplied multiplied(device, c);
  const float scales[2] = {0.5F, 2.0F};
  const DeviceMemory on_device = device.reserve(Bytes(8));
  device.upload(Stream::compute, on_device.get(), scales, Bytes(8));
  multiplied.on_device.a.scale = reinterpret_cast<const float*>(on_device.get());
  multiplied.on_device.b.scale = multiplied.on_device.a.scale + 1;
  multiplied.on_host.a.scale = scales;
  multiplied.on_host.b.scale = scales + 1;
  REQUIRE(products.run({multiplied.on_device}, current_stream()));
  const std::vector<std::byte> result = multiplied.downloaded(device);
  CHECK(result == multiplied.c.host);
  c.b = Transpose::no;
  Multiplied other(device, c);
  CHECK(!products.run({other.on_device}, current_stream()));
}

/// Powers of two, so that sums stay exact. The library reads m and n of them, to the end of the device's memory.
class RowScales {
 public:
  RowScales(CudaDevice& device, std::int64_t count, int first) : memory_(device.reserve(Bytes(count * 4))) {
    for (std::int64_t i = 0; i < count; ++i) host_.push_back(std::ldexp(1.0F, first + static_cast<int>(i % 3)));
    device.upload(Stream::compute, memory_.get(), host_.data(), Bytes(count * 4));
  }
  void scale(ConstTensorView& on_host, ConstTensorView& on_device, ScaleOf of) const {
    on_host.scale = host_.data();
    on_device.scale = reinterpret_cast<const float*>(memory_.get());
    on_host.scale_of = on_device.scale_of = of;
  }

 private:
  std::vector<float> host_;
  DeviceMemory memory_;
};

TEST_CASE("fp8 with a scale for each row of the result and each column is one product of the library") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  for (const NumberFormat result : {NumberFormat::bf16, NumberFormat::fp32})
    for (const Write write : {Write::overwrite, Write::accumulate}) {
      const Case c{NumberFormat::fp8_e4m3, result, Transpose::no, Transpose::yes, false, write};
      Multiplied multiplied(device, c);
      const RowScales of_a(device, m, -2);
      const RowScales of_b(device, n, 1);
      of_a.scale(multiplied.on_host.a, multiplied.on_device.a, ScaleOf::row);
      of_b.scale(multiplied.on_host.b, multiplied.on_device.b, ScaleOf::row);
      REQUIRE(products.run({multiplied.on_device}, current_stream()));
      CHECK(multiplied.downloaded(device) == multiplied.c.host);
      // One scale for each is another plan of the same shape.
      Multiplied plain(device, c);
      of_a.scale(plain.on_host.a, plain.on_device.a, ScaleOf::tensor);
      of_b.scale(plain.on_host.b, plain.on_device.b, ScaleOf::tensor);
      REQUIRE(products.run({plain.on_device}, current_stream()));
      CHECK(plain.downloaded(device) == plain.c.host);
    }
  CHECK(products.plans() == 8);
  CHECK(refused_products_text().empty());
}

TEST_CASE("Scales along the sum, or of one operand's rows alone, are no product of the library") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  const RowScales scales(device, k, 0);
  for (const auto& [of_a, of_b] : {std::pair(ScaleOf::column, ScaleOf::row),
                                   {ScaleOf::row, ScaleOf::column},
                                   {ScaleOf::row, ScaleOf::tensor},
                                   {ScaleOf::tensor, ScaleOf::row}}) {
    Multiplied multiplied(device, {NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes});
    scales.scale(multiplied.on_host.a, multiplied.on_device.a, of_a);
    scales.scale(multiplied.on_host.b, multiplied.on_device.b, of_b);
    const int asked = fake_cublaslt::heuristics_asked();
    CHECK(!products.run({multiplied.on_device}, current_stream()));
    CHECK(fake_cublaslt::heuristics_asked() == asked);
  }
}

TEST_CASE("Where the library has no scales of rows our kernels multiply, and a remark says so") {
  for (const auto& [what, reason] :
       {std::pair("another architecture", "not supported"), {"an old one", "older than 12.9"}}) {
    (void)cudaDeviceReset();
    forget_refused_products();
    if (reason == std::string("not supported")) cuda_on_cpu::set_device({.major = 10});
    CudaDevice device(0, cpu_kernels());
    MatrixProducts products(cublaslt().functions, ProductTuning::first);
    Multiplied multiplied(device, {NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes});
    const RowScales scales(device, n, 0);
    scales.scale(multiplied.on_host.a, multiplied.on_device.a, ScaleOf::row);
    scales.scale(multiplied.on_host.b, multiplied.on_device.b, ScaleOf::row);
    if (reason != std::string("not supported")) fake_cublaslt::know_no_scale_modes(true);
    INFO(what);
    CHECK(!products.run({multiplied.on_device}, current_stream()));
    CHECK(refused_products_text().find("fp8_e4m3 into bf16 with scales of rows: " + std::string(reason)) !=
          std::string::npos);
    fake_cublaslt::know_no_scale_modes(false);
    cuda_on_cpu::set_device({});
  }
  forget_refused_products();
}

/// A descriptor keeps what it was told: the second call is not multiplied by the first one's scales.
TEST_CASE("fp8 without scales is multiplied by none, behind a call of the same shape that has them") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  const Case c{NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes};
  Multiplied scaled(device, c);
  const float half = 0.5F;
  const DeviceMemory scale = device.reserve(Bytes(4));
  device.upload(Stream::compute, scale.get(), &half, Bytes(4));
  scaled.on_device.a.scale = scaled.on_device.b.scale = reinterpret_cast<const float*>(scale.get());
  scaled.on_host.a.scale = scaled.on_host.b.scale = &half;
  REQUIRE(products.run({scaled.on_device}, current_stream()));
  CHECK(scaled.downloaded(device) == scaled.c.host);
  Multiplied plain(device, c);
  REQUIRE(products.run({plain.on_device}, current_stream()));
  CHECK(plain.downloaded(device) == plain.c.host);
}

TEST_CASE("A plan is made once for a shape, and another one for less alignment, other strides or another epilogue") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  const int before = fake_cublaslt::heuristics_asked();
  const auto run = [&](const Case& c) {
    Multiplied multiplied(device, c);
    REQUIRE(products.run({multiplied.on_device}, current_stream()));
    device.finish_all();
  };
  for (int i = 0; i < 3; ++i) run({});
  CHECK(products.plans() == 1);
  run({.padding = 8});
  run({.has_bias = true});
  run({.write = Write::accumulate});
  CHECK(products.plans() == 4);
  Multiplied shifted(device, {});
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
    Multiplied multiplied(device, {});
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
  Multiplied mixed(device, {});
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::int8}) {
    mixed.on_device.b.format = format;
    CHECK(!products.run({mixed.on_device}, current_stream()));
  }
}

TEST_CASE("What cuBLASLt refuses for its types or the device goes to our kernels, and is counted once for a remark") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  for (const auto& [status, text] : {std::pair(CUBLAS_STATUS_INVALID_VALUE, "invalid value"),
                                     {CUBLAS_STATUS_ARCH_MISMATCH, "architecture mismatch"},
                                     {CUBLAS_STATUS_NOT_SUPPORTED, ""}}) {
    forget_refused_products();
    for (int rank = 0; rank < 2; ++rank) {
      MatrixProducts products(cublaslt().functions, ProductTuning::first);
      Multiplied multiplied(device, {});
      fake_cublaslt::fail_call("cublasLtMatmulAlgoGetHeuristic", status);
      CHECK(!products.run({multiplied.on_device}, current_stream()));
      CHECK(!products.run({multiplied.on_device}, current_stream()));  // that there is none is kept
    }
    const std::string remark = refused_products_text();
    INFO(remark);
    CHECK(remark.empty() == (std::string(text).empty()));
    if (remark.empty()) continue;
    CHECK(remark.find("1 shape of") != std::string::npos);
    CHECK(remark.find(std::string("32 x 48 x 64 of fp32 and fp32 into fp32: ") + text) != std::string::npos);
  }
  forget_refused_products();
}

/// Sums of op(a)'s rows, in fp32 and whole numbers: exact.
TEST_CASE("The gradient of a bias is an epilogue of the product") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  Multiplied multiplied(device, {.a = Transpose::yes});
  Matrix sums(device, NumberFormat::fp32, 1, m, 5);
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
  Matrix other(device, NumberFormat::bf16, 1, m, 5);
  CHECK(!products.run({multiplied.on_device, other.on_device()}, current_stream()));
}

TEST_CASE("Of the proposed algorithms the fastest is kept, for all ranks of a process, and nothing else is written") {
  using std::chrono::milliseconds;
  (void)cudaDeviceReset();
  cuda_on_cpu::set_device({.name = "a device of its own"});
  CudaDevice device(0, cpu_kernels());
  fake_cublaslt::set_algorithms({milliseconds(20), milliseconds(0), milliseconds(40)});
  MatrixProducts products(cublaslt().functions, ProductTuning::timed);
  const Case adding{.write = Write::accumulate};
  Multiplied multiplied(device, adding);
  const int before = fake_cublaslt::products_computed();
  REQUIRE(products.run({multiplied.on_device}, current_stream()));
  CHECK(products.choice({multiplied.on_device}) == 1);
  CHECK(multiplied.downloaded(device) == multiplied.c.host);  // added once
  CHECK(fake_cublaslt::products_computed() - before > 3);
  const int tuned = fake_cublaslt::products_computed();
  MatrixProducts of_other_rank(cublaslt().functions, ProductTuning::timed);
  Multiplied again(device, adding);
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
  Multiplied multiplied(device, {.padding = 2});
  cuda_on_cpu::set_capacity(cuda_on_cpu::allocated_bytes());
  REQUIRE(products.run({multiplied.on_device}, current_stream()));
  CHECK(products.choice({multiplied.on_device}) == 0);
  device.finish_all();
  (void)cudaDeviceReset();
  fake_cublaslt::set_algorithms(std::vector<milliseconds>(3, milliseconds(0)));
}

}  // namespace
}  // namespace plumbline
