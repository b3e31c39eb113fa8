#pragma once
/// \file both_devices.h: tensors that the CPU and the device both have, for tests that run a kernel on each.

#include "core/quantity/number_format.h"
#include "kernels/cuda/cuda_kernels.h"
#include "tests/cuda_on_cpu/test_device.h"
#include "tests/kernel_tensor.h"

namespace plumbline {

/// Bytes that were the same on both when it was made.
template <class T>
class BothArray {
 public:
  explicit BothArray(std::vector<T> values) : host_(std::move(values)) {
    if (host_.empty()) return;
    cuda_on_cpu::require(cudaMalloc(&device_, bytes()));
    cuda_on_cpu::require(cudaMemcpy(device_, host_.data(), bytes(), cudaMemcpyHostToDevice));
    // Of pageable memory the call may return while the copy is on its way, and streams of tests wait for nothing.
    cuda_on_cpu::require(cudaDeviceSynchronize());
  }
  BothArray(std::int64_t count, T value) : BothArray(std::vector<T>(static_cast<std::size_t>(count), value)) {}

  [[nodiscard]] T* host() { return host_.data(); }
  [[nodiscard]] const T* host() const { return host_.data(); }
  [[nodiscard]] T* device() const { return device_; }
  [[nodiscard]] const std::vector<T>& on_host() const { return host_; }
  [[nodiscard]] std::vector<T> on_device() const {
    std::vector<T> result(host_.size());
    cuda_on_cpu::require(cudaMemcpy(result.data(), device_, bytes(), cudaMemcpyDeviceToHost));
    return result;
  }
  [[nodiscard]] bool is_same() const { return on_device() == host_; }

 private:
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(T); }
  std::vector<T> host_;
  T* device_ = nullptr;
};

/// A tensor whose rows lie `gap` elements apart from each other's ends.
class BothTensor {
 public:
  BothTensor(std::int64_t rows, std::int64_t columns, NumberFormat format, const std::vector<float>& values,
             std::int64_t gap = 0)
      : rows_(rows), columns_(columns), stride_(columns + gap), format_(format), bytes_(encoded(values)) {}

  void set_scales(BothArray<float>& scale, ScaleOf of = ScaleOf::tensor) {
    scale_ = &scale;
    scale_of_ = of;
  }
  [[nodiscard]] TensorView host() { return view_of(bytes_.host(), scale_ != nullptr ? scale_->host() : nullptr); }
  [[nodiscard]] TensorView device() { return view_of(bytes_.device(), scale_ != nullptr ? scale_->device() : nullptr); }
  /// Elements and gaps, bit for bit.
  [[nodiscard]] bool is_same() const { return bytes_.is_same(); }
  [[nodiscard]] double error() {
    const std::vector<std::byte> device = bytes_.on_device();
    return relative_error(decoded(device.data()), decoded(bytes_.host()));
  }
  [[nodiscard]] std::vector<std::byte> on_device() const { return bytes_.on_device(); }

 private:
  [[nodiscard]] TensorView view_of(void* data, const float* scale) const {
    return {data, format_, rows_, columns_, stride_, scale, scale_of_};
  }
  [[nodiscard]] std::vector<std::byte> encoded(const std::vector<float>& values) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(storage(rows_ * stride_, format_).value()));
    const TensorView view = view_of(bytes.data(), nullptr);
    for (std::int64_t row = 0; row < rows_; ++row)
      reference::store(view, row, 0, columns_, values.data() + row * columns_);
    return bytes;
  }
  [[nodiscard]] std::vector<float> decoded(const std::byte* bytes) const {
    std::vector<float> values(static_cast<std::size_t>(rows_ * columns_));
    const ConstTensorView view{
        bytes, format_, rows_, columns_, stride_, scale_ != nullptr ? scale_->host() : nullptr, scale_of_};
    for (std::int64_t row = 0; row < rows_; ++row)
      reference::load_to(view, row, 0, columns_, values.data() + row * columns_);
    return values;
  }
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t stride_;
  NumberFormat format_;
  BothArray<std::byte> bytes_;
  BothArray<float>* scale_ = nullptr;
  ScaleOf scale_of_ = ScaleOf::tensor;
};

inline BothTensor random_both(std::int64_t rows, std::int64_t columns, std::uint32_t seed,
                              NumberFormat format = NumberFormat::fp32, std::int64_t gap = 0) {
  return {rows, columns, format, random_values(rows * columns, seed), gap};
}

/// Scratch on the device of exactly these bytes.
inline Workspace device_workspace(Bytes size) {
  void* data = nullptr;
  if (size > Bytes(0)) cuda_on_cpu::require(cudaMalloc(&data, static_cast<std::size_t>(size.value())));
  return {data, size};
}

/// One unit in the last place of the largest element: two correct fp32 results may round to different neighbours.
inline double tolerance(NumberFormat format) {
  switch (format) {
    case NumberFormat::bf16: return 0x1p-7;
    case NumberFormat::fp16: return 0x1p-10;
    default: return 1e-5;
  }
}

inline constexpr NumberFormat float_formats[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};

/// body(stream) on a device as new, once for each order of threads; then all its work is done.
template <class Body>
void on_both(Body body) {
  for (const cuda_on_cpu::ThreadOrder order : cuda_on_cpu::all_thread_orders) {
    const cuda_on_cpu::TestDevice device;
    cuda_on_cpu::set_thread_order(order);
    cuda_on_cpu::set_alignment(16);
    const cuda_on_cpu::TestStream stream;
    body(static_cast<cudaStream_t>(stream));
  }
}

inline void finish(cudaStream_t stream) { cuda_on_cpu::require(cudaStreamSynchronize(stream)); }

/// Rows and columns: single ones, odd ones, more than a block's threads.
struct Size {
  std::int64_t rows;
  std::int64_t columns;
};
inline constexpr Size odd_sizes[] = {{1, 1}, {3, 5}, {5, 67}, {2, 300}, {67, 3}};

}  // namespace plumbline
