#include "runtime/cuda/current_lane.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

struct OfThread {
  cudaStream_t own = nullptr;      ///< of the device's compute lane
  cudaStream_t current = nullptr;  ///< of the work that runs
  TimedEvents* times = nullptr;    ///< of the device that the work runs on
  std::function<void()> check;     ///< after a wait
};
OfThread& of_thread() {
  thread_local OfThread streams;
  return streams;
}

}  // namespace

cudaStream_t current_stream() {
  const OfThread& streams = of_thread();
  check(streams.own != nullptr, "a thread that launches kernels has a device");
  return streams.current != nullptr ? streams.current : streams.own;
}

bool is_in_lane_work() { return of_thread().current != nullptr; }

void set_thread_check(std::function<void()> check) { of_thread().check = std::move(check); }
void run_thread_check() {
  if (of_thread().check) of_thread().check();
}

void set_thread_stream(cudaStream_t stream) { of_thread().own = stream; }
cudaStream_t thread_stream() { return of_thread().own; }

TimedEvents* current_times() { return of_thread().times; }

CurrentStream::CurrentStream(cudaStream_t stream, TimedEvents* times)
    : before_(of_thread().current), times_before_(of_thread().times) {
  of_thread().current = stream;
  of_thread().times = times;
}
CurrentStream::~CurrentStream() {
  of_thread().current = before_;
  of_thread().times = times_before_;
}

}  // namespace plumbline
