#pragma once
/// \file host_memory_device.h: devices whose memory is the host's: their copies are copies of the CPU.
///
/// Checked against: tests/runtime/device/cpu_device_threads_test.cpp.

#include "runtime/device/compute_device.h"

namespace plumbline {

class HostMemoryDevice : public ComputeDevice {
 public:
  [[nodiscard]] const DeviceKernels& kernels() const override;
  [[nodiscard]] DeviceMemory reserve(Bytes bytes) override;
  void copy(Stream lane, void* to, const void* from, Bytes bytes) override;
  void fill(Stream lane, void* to, std::byte value, Bytes bytes) override;
  void upload(Stream lane, void* to, const void* from, Bytes bytes) override;
  void download(Stream lane, void* to, const void* from, Bytes bytes) override { copy(lane, to, from, bytes); }
};

}  // namespace plumbline
