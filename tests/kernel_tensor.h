#pragma once
/// \file kernel_tensor.h: tensors that own their numbers, and comparisons, for tests of kernels.

#include <cmath>
#include <random>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/tensor_view.h"
#include "tests/catch.h"

namespace plumbline {

/// A dense tensor in any format of the kernels.
class KernelTensor {
 public:
  KernelTensor(std::int64_t rows, std::int64_t columns, NumberFormat format = NumberFormat::fp32)
      : rows_(rows), columns_(columns), format_(format), bytes_(storage_of(rows * columns, format)) {}
  KernelTensor(const std::vector<float>& values, std::int64_t rows, std::int64_t columns,
               NumberFormat format = NumberFormat::fp32)
      : KernelTensor(rows, columns, format) {
    check(static_cast<std::int64_t>(values.size()) == rows * columns, "a tensor is given all of its values");
    for (std::int64_t r = 0; r < rows; ++r) reference::store(view(), r, 0, columns, values.data() + r * columns);
  }
  [[nodiscard]] TensorView view() { return dense_view(bytes_.data(), format_, rows_, columns_); }
  [[nodiscard]] ConstTensorView view() const { return dense_view(bytes_.data(), format_, rows_, columns_); }
  operator TensorView() { return view(); }
  operator ConstTensorView() const { return view(); }
  [[nodiscard]] std::vector<float> values() const {
    std::vector<float> result(static_cast<std::size_t>(rows_ * columns_));
    for (std::int64_t r = 0; r < rows_; ++r) reference::load_to(view(), r, 0, columns_, result.data() + r * columns_);
    return result;
  }
  /// fp32 only.
  [[nodiscard]] float* data() { return reinterpret_cast<float*>(bytes_.data()); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static std::size_t storage_of(std::int64_t count, NumberFormat format) {
    return static_cast<std::size_t>(storage(count, format).value());
  }
  std::int64_t rows_;
  std::int64_t columns_;
  NumberFormat format_;
  std::vector<std::byte> bytes_;
};

/// Normal numbers, the same for the same seed on every machine (the library's distributions are not).
inline std::vector<float> random_values(std::int64_t count, std::uint32_t seed, double deviation = 1.0) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return (static_cast<double>(random()) + 0.5) * 0x1p-32; };
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values)
    v = static_cast<float>(deviation * std::sqrt(-2.0 * std::log(uniform())) * std::cos(6.283185307179586 * uniform()));
  return values;
}
inline KernelTensor random_tensor(std::int64_t rows, std::int64_t columns, std::uint32_t seed,
                                  NumberFormat format = NumberFormat::fp32, double deviation = 1.0) {
  return {random_values(rows * columns, seed, deviation), rows, columns, format};
}

/// Memory for a workspace of exactly the size that was asked for, aligned as kernels may expect.
class WorkspaceMemory {
 public:
  explicit WorkspaceMemory(Bytes size) : memory_(static_cast<std::size_t>(size.value()) + 64), size_(size) {}
  operator Workspace() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return {memory_.data() + (64 - address % 64) % 64, size_};
  }

 private:
  std::vector<std::byte> memory_;
  Bytes size_;
};

/// The largest difference as a fraction of the largest expected magnitude; not a number if any element is not.
inline double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  check(got.size() == expected.size(), "compared tensors have one size");
  double largest = 0;
  double error = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) || std::isnan(expected[i])) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    error = std::max(error, std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
  }
  return largest > 0 ? error / largest : error;
}

}  // namespace plumbline
