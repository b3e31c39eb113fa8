// Products of fp8 through cuBLASLt: scales of tensors, of rows and columns, and what the library has none of.
#include <cmath>

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

TEST_CASE("fp8 is multiplied with its inner dimension along rows, and by its scales") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  MatrixProducts products(cublaslt().functions, ProductTuning::first);
  ProductCase c{NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes};
  MultipliedProduct multiplied(device, c);
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
  MultipliedProduct other(device, c);
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
      const ProductCase c{NumberFormat::fp8_e4m3, result, Transpose::no, Transpose::yes, false, write};
      MultipliedProduct multiplied(device, c);
      const RowScales of_a(device, m, -2);
      const RowScales of_b(device, n, 1);
      of_a.scale(multiplied.on_host.a, multiplied.on_device.a, ScaleOf::row);
      of_b.scale(multiplied.on_host.b, multiplied.on_device.b, ScaleOf::row);
      REQUIRE(products.run({multiplied.on_device}, current_stream()));
      CHECK(multiplied.downloaded(device) == multiplied.c.host);
      // One scale for each is another plan of the same shape.
      MultipliedProduct plain(device, c);
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
    MultipliedProduct multiplied(device, {NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes});
    scales.scale(multiplied.on_host.a, multiplied.on_device.a, of_a);
    scales.scale(multiplied.on_host.b, multiplied.on_device.b, of_b);
    const int asked = fake_cublaslt::heuristics_asked();
    CHECK(!products.run({multiplied.on_device}, current_stream()));
    CHECK(fake_cublaslt::heuristics_asked() == asked);
  }
}

TEST_CASE("Where the library has no scales of rows our kernels multiply, and a warning says so") {
  for (const auto& [what, reason] :
       {std::pair("another architecture", "not supported"), {"an old one", "older than 12.9"}}) {
    (void)cudaDeviceReset();
    forget_refused_products();
    if (reason == std::string("not supported")) cuda_on_cpu::set_device({.major = 10});
    CudaDevice device(0, cpu_kernels());
    MatrixProducts products(cublaslt().functions, ProductTuning::first);
    MultipliedProduct multiplied(device, {NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes});
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
  const ProductCase c{NumberFormat::fp8_e4m3, NumberFormat::bf16, Transpose::no, Transpose::yes};
  MultipliedProduct scaled(device, c);
  const float half = 0.5F;
  const DeviceMemory scale = device.reserve(Bytes(4));
  device.upload(Stream::compute, scale.get(), &half, Bytes(4));
  scaled.on_device.a.scale = scaled.on_device.b.scale = reinterpret_cast<const float*>(scale.get());
  scaled.on_host.a.scale = scaled.on_host.b.scale = &half;
  REQUIRE(products.run({scaled.on_device}, current_stream()));
  CHECK(scaled.downloaded(device) == scaled.c.host);
  MultipliedProduct plain(device, c);
  REQUIRE(products.run({plain.on_device}, current_stream()));
  CHECK(plain.downloaded(device) == plain.c.host);
}

}  // namespace
}  // namespace plumbline
