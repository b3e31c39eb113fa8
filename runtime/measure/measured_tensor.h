#pragma once
/// \file measured_tensor.h: tensors that own numbers to time kernels with.
///
/// Random numbers of ordinary size: zeros and denormals run at other speeds.

#include <vector>

#include "kernels/tensor_view.h"

namespace plumbline {

class MeasuredTensor {
 public:
  /// fp32 or a format of 16 bits; filled with numbers in (-1, 1).
  MeasuredTensor(NumberFormat format, std::int64_t rows, std::int64_t columns);
  [[nodiscard]] TensorView view() { return dense_view(data_.data(), format_, rows_, columns_); }
  operator TensorView() { return view(); }
  operator ConstTensorView() { return view(); }
  /// Of fp32.
  [[nodiscard]] float* floats() { return reinterpret_cast<float*>(data_.data()); }

 private:
  NumberFormat format_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<std::byte> data_;
};

/// Tensors that no cache holds: each is another part of memory that is larger than the last-level cache, in turn. So a
/// step meets weights, their gradients and kept activations: between two uses it has gone through all others.
class ColdTensors {
 public:
  ColdTensors(NumberFormat format, Bytes size)
      : elements_(size.value() * 8 / bits(format)), all_(format, 1, elements_) {}
  /// Of at most the whole memory. The same numbers again once all were taken.
  [[nodiscard]] TensorView next(std::int64_t rows, std::int64_t columns);

 private:
  std::int64_t elements_;
  MeasuredTensor all_;
  std::int64_t begin_ = 0;
};

/// Scratch memory of the size that a kernel asks for.
class MeasuredWorkspace {
 public:
  explicit MeasuredWorkspace(Bytes size) : data_(static_cast<std::size_t>(size.value()) + alignment) {}
  [[nodiscard]] Workspace view();

 private:
  static constexpr std::size_t alignment = 64;
  std::vector<std::byte> data_;
};

}  // namespace plumbline
