#pragma once
/// \file host_memory_device.h: devices whose memory is the host's: their copies are copies of the CPU, their times its
/// clock's.
///
/// Checked against: tests/runtime/device/cpu_device_threads_test.cpp.

#include <deque>

#include "runtime/device/compute_device.h"

namespace plumbline {

class HostMemoryDevice : public ComputeDevice {
 public:
  [[nodiscard]] const DeviceKernels& kernels() const override;
  [[nodiscard]] DeviceMemory reserve(Bytes bytes) override;
  [[nodiscard]] DeviceMemory reserve_host(Bytes bytes) override { return reserve(bytes); }
  [[nodiscard]] Mark timed_mark(Stream lane) override;
  [[nodiscard]] std::int64_t elapsed_ns(const Mark& from, const Mark& to) const override;
  void forget_times() override { times_.clear(); }
  void copy(Stream lane, void* to, const void* from, Bytes bytes) override;
  void fill(Stream lane, void* to, std::byte value, Bytes bytes) override;
  void upload(Stream lane, void* to, const void* from, Bytes bytes) override;
  void download(Stream lane, void* to, const void* from, Bytes bytes) override { copy(lane, to, from, bytes); }
  void fetch(Stream lane, void* to, const void* from, Bytes bytes) override { copy(lane, to, from, bytes); }

 private:
  std::deque<std::int64_t> times_;  ///< of timed marks, on the host's clock; 0: not passed
};

}  // namespace plumbline
