#pragma once
/// \file test_device.h: a device that is as new, a stream and arrays on it, for tests.

#include <cuda_runtime.h>

#include <vector>

#include "tests/catch.h"
#include "tests/cuda_on_cpu/control.h"

namespace cuda_on_cpu {

inline void require(cudaError_t error) {
  INFO(cudaGetErrorName(error) << ": " << last_problem());
  REQUIRE(error == cudaSuccess);
}

/// Makes the device as new, and leaves it so.
class TestDevice {
 public:
  TestDevice() { start_anew(); }
  TestDevice(const TestDevice&) = delete;
  TestDevice& operator=(const TestDevice&) = delete;
  ~TestDevice() { start_anew(); }

  static void start_anew() {
    set_thread_order(ThreadOrder::forward);
    set_seed(1);
    set_device({});
    renew_device();
  }
};

class TestStream {
 public:
  TestStream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  ~TestStream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Memory of the device, gone with the next reset.
template <class T>
struct DeviceArray {
  explicit DeviceArray(std::size_t n) : count(n) { require(cudaMalloc(&data, n * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    require(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(count);
    require(cudaMemcpy(result.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }
  T* data = nullptr;
  std::size_t count = 0;
};

/// A launch without dynamic shared memory.
template <class... P, class... A>
cudaError_t launch_on(cudaStream_t stream, dim3 grid, dim3 block, void (*kernel)(P...), A... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

inline constexpr ThreadOrder all_thread_orders[] = {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled};

}  // namespace cuda_on_cpu
