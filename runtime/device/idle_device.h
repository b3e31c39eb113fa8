#pragma once
/// \file idle_device.h: a device that takes work and does none of it.
///
/// Answers: what a kernel needs as scratch, as the device whose kernels it has would; nothing else. Model: what is
/// reserved is the same bytes of the host each time, zero at first, so that a program can be walked without its memory.
/// Not modelled: time. Checked against: tests/runtime/device/idle_device_test.cpp.

#include "runtime/device/compute_device.h"
#include "runtime/device/device_kernels.h"

namespace plumbline {

class IdleDevice : public ComputeDevice {
 public:
  /// `table`: of the device that answers how much scratch is needed.
  explicit IdleDevice(const DeviceKernels& table);

  [[nodiscard]] const DeviceKernels& kernels() const override { return kernels_; }
  [[nodiscard]] DeviceMemory reserve(Bytes bytes) override;
  [[nodiscard]] DeviceMemory reserve_host(Bytes bytes) override { return reserve(bytes); }
  void enqueue(Stream, std::function<void()>) override {}
  [[nodiscard]] Mark mark(Stream lane) const override { return {lane, 0}; }
  [[nodiscard]] Mark timed_mark(Stream lane) override { return {lane, 0, 0}; }
  [[nodiscard]] std::int64_t elapsed_ns(const Mark&, const Mark&) const override { return 0; }
  void forget_times() override {}
  void copy(Stream, void*, const void*, Bytes) override {}
  void fill(Stream, void*, std::byte, Bytes) override {}
  void upload(Stream, void*, const void*, Bytes) override {}
  void download(Stream, void*, const void*, Bytes) override {}
  void fetch(Stream, void*, const void*, Bytes) override {}
  void wait(Stream, Mark) override {}
  void finish(Mark) override {}
  void finish_all() override {}
  void stop() noexcept override {}

 private:
  DeviceKernels kernels_;
  CombinedKernels combined_;
  DeviceMemory memory_;
  Bytes size_{0};
};

}  // namespace plumbline
