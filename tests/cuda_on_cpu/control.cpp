#include "tests/cuda_on_cpu/control.h"

#include <utility>
#include <vector>

#include "tests/cuda_on_cpu/api_call.h"
#include "tests/cuda_on_cpu/launches.h"
#include "tests/cuda_on_cpu/run_settings.h"

namespace cuda_on_cpu {
namespace {

struct Request {
  std::string name;
  int nth = 1;
  cudaError_t error = cudaSuccess;
};

struct Calls {
  std::vector<Request> requests;
  std::map<std::string, int> made;
};
Calls& calls() {
  static auto* only = new Calls;
  return *only;
}

/// Of this host thread, as CUDA's.
cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

void renew_device() { (void)cudaDeviceReset(); }

RunSettings& run_settings() {
  static auto* only = new RunSettings;
  return *only;
}

cudaError_t requested_failure(const char* name) {
  ++calls().made[name];
  std::vector<Request>& requests = calls().requests;
  for (auto request = requests.begin(); request != requests.end(); ++request)
    if (request->name == name && --request->nth == 0) {
      const cudaError_t error = request->error;
      requests.erase(request);
      return error;
    }
  return cudaSuccess;
}

cudaError_t obstacle(const char* name) {
  if (is_in_host_function()) return cudaErrorNotPermitted;
  const cudaError_t requested = requested_failure(name);
  return requested != cudaSuccess ? requested : streams().failure;
}

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

void set_thread_order(ThreadOrder order) {
  const Streams::Lock lock(streams().mutex);
  run_settings().thread_order = order;
}

void set_seed(unsigned seed) {
  const Streams::Lock lock(streams().mutex);
  run_settings().seed = seed;
  streams().random.seed(seed);
}

void set_capacity(std::size_t bytes) {
  const Streams::Lock lock(streams().mutex);
  streams().memory.capacity = bytes;
}

void set_memory_taken(const MemoryTaken& taken) {
  const Streams::Lock lock(streams().mutex);
  streams().memory.taken = taken;
}

void take_memory(std::size_t bytes) {
  const Streams::Lock lock(streams().mutex);
  streams().memory.take(current_device(), bytes);
}

void set_alignment(std::size_t bytes) {
  const Streams::Lock lock(streams().mutex);
  streams().memory.alignment = bytes;
}

void set_device(const DeviceDescription& device) {
  const Streams::Lock lock(streams().mutex);
  run_settings().device = device;
}

void fail_call(const std::string& name, int nth, cudaError_t error) {
  const Streams::Lock lock(streams().mutex);
  calls().requests.push_back({name, nth, error});
}

std::map<std::string, int> calls_made() {
  const Streams::Lock lock(streams().mutex);
  return calls().made;
}

int host_waits() {
  const Streams::Lock lock(streams().mutex);
  return streams().host_waits;
}

void leave_out_wait(int nth) { fail_call("left-out wait", nth, cudaErrorUnknown); }

std::string last_problem() {
  const Streams::Lock lock(streams().mutex);
  return std::exchange(streams().problem, std::string());
}

bool is_device_memory(const void* pointer, std::size_t bytes) {
  const Streams::Lock lock(streams().mutex);
  return streams().memory.holds(pointer, bytes);
}

std::size_t allocated_bytes() {
  const Streams::Lock lock(streams().mutex);
  return streams().memory.allocated();
}

}  // namespace cuda_on_cpu

extern "C" {

cudaError_t cudaGetLastError() {
  using namespace cuda_on_cpu;
  const Streams::Lock lock(streams().mutex);
  const cudaError_t last = std::exchange(last_error(), cudaSuccess);
  return streams().failure != cudaSuccess ? streams().failure : last;
}

cudaError_t cudaPeekAtLastError() {
  using namespace cuda_on_cpu;
  const Streams::Lock lock(streams().mutex);
  return streams().failure != cudaSuccess ? streams().failure : last_error();
}

cudaError_t cudaDeviceReset() {
  using namespace cuda_on_cpu;
  const Streams::Lock lock(streams().mutex);
  streams().reset();
  streams().memory.capacity = std::size_t{1} << 30;
  streams().memory.alignment = 256;
  streams().memory.taken = MemoryTaken();
  calls() = Calls();
  last_error() = cudaSuccess;
  forget_launches();
  return cudaSuccess;
}
}
