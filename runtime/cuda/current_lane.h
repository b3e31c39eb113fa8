#pragma once
/// \file current_lane.h: the stream that kernels of this thread are launched on.
///
/// Model: a thread has the device that it made last, as CUDA has it (cudaSetDevice). Inside of a lane's work it is that
/// lane's stream, else the compute lane's. Not modelled: several devices of one thread.
/// Checked against: tests/cuda/cuda_device_test.cpp.

#include <cuda_runtime_api.h>

#include <functional>

namespace plumbline {

/// Throws InternalError on a thread that has no device.
[[nodiscard]] cudaStream_t current_stream();

/// Whether the thread runs work of a lane.
[[nodiscard]] bool is_in_lane_work();

/// What a thread calls after each wait for its device: throws where what it waited for was given up. Empty: nothing.
void set_thread_check(std::function<void()> check);
void run_thread_check();

/// Of a thread: its device's compute stream.
void set_thread_stream(cudaStream_t stream);
[[nodiscard]] cudaStream_t thread_stream();

class TimedEvents;

/// Of the device whose work the thread gives; null outside of a lane's work.
[[nodiscard]] TimedEvents* current_times();

/// While it lives, the thread's kernels go to `stream`, and what it times to `times`.
class CurrentStream {
 public:
  explicit CurrentStream(cudaStream_t stream, TimedEvents* times = nullptr);
  CurrentStream(const CurrentStream&) = delete;
  CurrentStream& operator=(const CurrentStream&) = delete;
  ~CurrentStream();

 private:
  cudaStream_t before_;
  TimedEvents* times_before_;
};

}  // namespace plumbline
