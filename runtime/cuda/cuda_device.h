#pragma once
/// \file cuda_device.h: a GPU: its lanes are CUDA streams, its marks events, its memory the device's.
///
/// Answers: runtime/device/compute_device.h on CUDA. Model: work is given by one thread, whose calls return before it
/// is done; what a lane's work does at once on this thread is to launch kernels and copies on that lane's stream, and
/// what its communicators move lies in the device's memory (device_messages.h). The host waits in `finish`,
/// `finish_all`, `elapsed_ns` and `stop` alone. Errors: CudaError names the call; CudaOutOfMemory what was asked and
/// what is free. Source: CUDA Runtime API 13.0. Not modelled: several devices of one thread; `stop` lets
/// what was launched run to its end. Checked against: tests/cuda/cuda_device_test.cpp, tests/cuda/training_test.cpp.

#include "runtime/cuda/cuda_graph.h"
#include "runtime/cuda/cuda_lane.h"
#include "runtime/cuda/device_messages.h"
#include "runtime/cuda/host_staging.h"
#include "runtime/cuda/memory_meter.h"
#include "runtime/cuda/profiler_ranges.h"
#include "runtime/cuda/timed_events.h"
#include "runtime/device/compute_device.h"
#include "runtime/device/device_kernels.h"

namespace plumbline {

class CudaDevice : public ComputeDevice {
 public:
  /// Of the thread that makes it: device `ordinal`, in turn where there are fewer. `table`: kernels that are launched
  /// on current_stream() (current_lane.h). Throws CudaError where there is no driver or no device.
  CudaDevice(std::int32_t ordinal, const DeviceKernels& table);
  ~CudaDevice() override;

  [[nodiscard]] const DeviceKernels& kernels() const override { return kernels_; }
  [[nodiscard]] DeviceMemory reserve(Bytes bytes) override;
  [[nodiscard]] DeviceMemory reserve_host(Bytes bytes) override { return page_locked(bytes); }
  [[nodiscard]] std::optional<DeviceUse> memory_use() const override { return account_->use(); }
  void enqueue(Stream lane, std::function<void()> work) override;
  [[nodiscard]] Mark mark(Stream lane) const override { return {lane, lanes_[lane].mark()}; }
  [[nodiscard]] Mark timed_mark(Stream lane) override;
  [[nodiscard]] std::int64_t elapsed_ns(const Mark& from, const Mark& to) const override;
  void forget_times() override { times_.forget(); }
  [[nodiscard]] std::optional<TimedSpan> taken_message() override;
  void copy(Stream lane, void* to, const void* from, Bytes bytes) override;
  void fill(Stream lane, void* to, std::byte value, Bytes bytes) override;
  void upload(Stream lane, void* to, const void* from, Bytes bytes) override;
  void download(Stream lane, void* to, const void* from, Bytes bytes) override;
  void fetch(Stream lane, void* to, const void* from, Bytes bytes) override;
  void wait(Stream lane, Mark mark) override;
  void finish(Mark mark) override;
  [[nodiscard]] bool is_known_passed(const Mark& mark) const override {
    return lanes_[mark.lane].is_known_passed(mark.work);
  }
  void finish_all() override;
  void finish_in_turn(std::span<const Mark> marks, const std::function<void(std::size_t)>& before) override;
  [[nodiscard]] bool shows_ranges() const override { return shows_ranges_; }
  void begin_range(const std::string& name) override { push_profiler_range(name.c_str()); }
  void end_range() override { pop_profiler_range(); }
  [[nodiscard]] std::unique_ptr<WorkGraph> make_graph() override { return std::make_unique<CudaGraph>(lanes_, times_); }
  void stop() noexcept override;

 private:
  const DeviceKernels& kernels_;
  CudaLanes lanes_;
  std::shared_ptr<MemoryAccount> account_;  ///< made behind the lanes, which are the context's
  HostStaging staging_;
  DeviceMessages messages_;
  TimedEvents times_;
  bool shows_ranges_ = ranges_are_asked_for();
};

/// Throws EnvironmentError, one sentence, where there is no driver, an old one, or no device; else their number.
[[nodiscard]] std::int32_t require_cuda_devices();

}  // namespace plumbline
