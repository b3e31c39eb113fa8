#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>

#include "tests/cuda_on_cpu/test_device.h"

namespace cuda_on_cpu {
namespace {

__global__ void write_at(float* to, int at) { to[at] = 1; }

/// The signal that ends a process which runs `body`, 0 if none does.
template <class Body>
int signal_of(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("the host cannot read the device's memory") {
  const TestDevice device;
  const DeviceArray<int> x(std::vector<int>{1, 2, 3});
  CHECK(signal_of([&] { _exit(*static_cast<volatile int*>(x.data) == 1 ? 0 : 1); }) == SIGSEGV);
  CHECK(x.values() == std::vector<int>{1, 2, 3});
}

TEST_CASE("new memory holds NaNs") {
  const TestDevice device;
  const DeviceArray<float> x(5);
  for (const float value : x.values()) CHECK(std::isnan(value));
}

TEST_CASE("the device's memory ends where the capacity does, and comes back") {
  const TestDevice device;
  set_capacity(1000);
  void* a = nullptr;
  void* b = nullptr;
  require(cudaMalloc(&a, 600));
  CHECK(cudaMalloc(&b, 600) == cudaErrorMemoryAllocation);
  std::size_t free = 0;
  std::size_t total = 0;
  require(cudaMemGetInfo(&free, &total));
  CHECK(free == 400);
  CHECK(total == 1000);
  require(cudaFree(a));
  CHECK(cudaMalloc(&b, 600) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(b) % 256 == 0);
  CHECK(allocated_bytes() == 600);
}

/// Of the host thread's device.
std::size_t taken() {
  std::size_t free = 0;
  std::size_t total = 0;
  require(cudaMemGetInfo(&free, &total));
  return total - free;
}

TEST_CASE("contexts, kernels and libraries take memory of their device, each once") {
  const TestDevice device;
  set_device({.count = 2});
  set_memory_taken({.context = 1000, .kernel = 10, .granularity = 512});
  require(cudaSetDevice(1));
  CHECK(taken() == 1000);
  take_memory(7);
  void* a = nullptr;
  require(cudaMalloc(&a, 513));
  CHECK(taken() == 1000 + 7 + 1024);
  require(cudaSetDevice(0));
  CHECK(taken() == 1000);
  const TestStream stream;
  const DeviceArray<float> x(100);
  for (int run = 0; run < 2; ++run) require(launch_on(stream, 1, 1, write_at, x.data, 0));
  CHECK(taken() == 1000 + 512 + 10);
  require(cudaFree(a));  // of the other device
  require(cudaSetDevice(1));
  CHECK(taken() == 1000 + 7);
  require(cudaSetDevice(0));
  set_capacity(2000);
  CHECK(cudaMalloc(&a, 600) == cudaErrorMemoryAllocation);
}

TEST_CASE("bytes written between an allocation and its guard page are found when it is freed") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(100);  // 400 bytes of 512
  require(launch_on(stream, 1, 1, write_at, x.data, 100));
  require(cudaStreamSynchronize(stream));
  CHECK(cudaFree(x.data) == cudaErrorIllegalAddress);
  CHECK_THAT(last_problem(), Catch::Matchers::ContainsSubstring("behind an allocation"));
}

TEST_CASE("what was freed cannot be freed again or touched") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(4);
  require(cudaFree(x.data));
  CHECK(cudaFree(x.data) == cudaErrorInvalidValue);
  require(launch_on(stream, 1, 1, write_at, x.data, 0));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
}

TEST_CASE("copies check that each end lies where their kind says") {
  const TestDevice device;
  const TestStream stream;
  std::vector<float> host(4);
  const DeviceArray<float> x(4);
  const DeviceArray<float> y(4);
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, 16, kind, stream);
  };
  CHECK(copy(x.data, host.data(), cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(copy(y.data, x.data, cudaMemcpyDeviceToDevice) == cudaSuccess);
  CHECK(copy(host.data(), y.data, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(copy(x.data, host.data(), cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(copy(host.data(), x.data, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(x.data, host.data(), 20, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  CHECK(cudaMemsetAsync(x.data, 0, 20, stream) == cudaErrorInvalidValue);
}

TEST_CASE("page-locked memory is read when its stream gets there, pageable memory at once") {
  for (const bool is_locked : {false, true}) {
    const TestDevice device;
    const TestStream stream;
    int pageable = 1;
    int* host = &pageable;
    if (is_locked) require(cudaMallocHost(&host, sizeof(int)));
    *host = 1;
    const DeviceArray<int> x(1);
    require(cudaMemcpyAsync(x.data, host, sizeof(int), cudaMemcpyHostToDevice, stream));
    *host = 2;
    require(cudaStreamSynchronize(stream));
    CHECK(x.values() == std::vector<int>{is_locked ? 2 : 1});
    if (is_locked) require(cudaFreeHost(host));
  }
}

TEST_CASE("page-locked memory is written when its stream gets there") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<int> x(std::vector<int>{7});
  int* host = nullptr;
  require(cudaMallocHost(&host, sizeof(int)));
  *host = 0;
  require(cudaMemcpyAsync(host, x.data, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CHECK(*host == 0);
  require(cudaStreamSynchronize(stream));
  CHECK(*host == 7);
  require(cudaFreeHost(host));
}

}  // namespace
}  // namespace cuda_on_cpu
