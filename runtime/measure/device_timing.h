#pragma once
/// \file device_timing.h: how long work takes on a device, by its own marks, and tensors that lie there.
///
/// Model: calls are given to the compute lane behind work that keeps it busy, so that the device never waits for the
/// host, and timed by marks around them. Tensors hold random numbers of ordinary size, the same block again and again:
/// zeros run faster. Not modelled: clocks that change with temperature. Checked against:
/// tests/runtime/measure/measure_device_test.cpp.

#include <functional>

#include "kernels/tensor_view.h"
#include "runtime/device/compute_device.h"

namespace plumbline {

class DeviceTiming {
 public:
  /// `budget`: for the repetitions of one call.
  DeviceTiming(ComputeDevice& device, Seconds budget);

  [[nodiscard]] ComputeDevice& device() const { return device_; }
  /// Median over repetitions; `calls` in each, of which the time is that of one.
  [[nodiscard]] Seconds median(const std::function<void()>& call, int calls = 1);
  /// Of the host, until it has given one call out.
  [[nodiscard]] Seconds host_time(const std::function<void()>& call, int calls);
  /// A tensor, until `release`. fp32 or 16 bits.
  [[nodiscard]] TensorView tensor(NumberFormat format, std::int64_t rows, std::int64_t columns);
  [[nodiscard]] DeviceMemory bytes(Bytes size);
  void release() { held_.clear(); }

 private:
  [[nodiscard]] Seconds once(const std::function<void()>& call, int calls);

  ComputeDevice& device_;
  Seconds budget_;
  DeviceMemory busy_;  ///< what keeps the lane busy copies within it
  std::vector<DeviceMemory> held_;
};

}  // namespace plumbline
