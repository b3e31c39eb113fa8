#pragma once
/// \file multiplied_product.h: a product of small whole numbers on the host and on the device.
///
/// Model: the host's is the reference's; the results are equal to the bit, as all sums are exact.

#include <cstring>
#include <memory>
#include <random>

#include "kernels/matmul.h"
#include "kernels/number_conversion.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/matrix_products.h"

namespace plumbline::multiplied_product {

/// A matrix on the host and on the device, with more columns in memory than it has.
struct TestMatrix {
  TestMatrix(CudaDevice& device, NumberFormat of_format, std::int64_t rows, std::int64_t columns, unsigned seed,
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

struct ProductCase {
  NumberFormat operands = NumberFormat::fp32;
  NumberFormat result = NumberFormat::fp32;
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;
  bool has_bias = false;
  Write write = Write::overwrite;
  std::int64_t padding = 0;
};

/// Of every product: multiples of 16, as fp8 asks for.
inline constexpr std::int64_t m = 32, n = 48, k = 64;

struct MultipliedProduct {
  explicit MultipliedProduct(CudaDevice& device, const ProductCase& of)
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

  TestMatrix a, b, c, bias;
  DeviceMemory scratch;
  Matmul on_device, on_host;
};

}  // namespace plumbline::multiplied_product
