#include <cuda_runtime.h>

#include <numeric>

#include "tests/cuda_on_cpu/test_device.h"

namespace cuda_on_cpu {
namespace {

using Catch::Matchers::ContainsSubstring;

__global__ void write(float* to, float value) { to[threadIdx.x] = value; }

__global__ void copy_doubled(const float* from, float* to) { to[threadIdx.x] = 2 * from[threadIdx.x]; }

/// A producer on one stream, a consumer on another, with the event between them or without.
std::vector<float> produced_and_consumed(bool waits) {
  const TestStream producer;
  const TestStream consumer;
  cudaEvent_t event = nullptr;
  require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const DeviceArray<float> x(32);
  const DeviceArray<float> y(32);
  require(launch_on(producer, 1, 32, write, x.data, 3.0F));
  require(cudaEventRecord(event, producer));
  if (!waits) leave_out_wait(1);
  require(cudaStreamWaitEvent(consumer, event));
  require(launch_on(consumer, 1, 32, copy_doubled, x.data, y.data));
  require(cudaDeviceSynchronize());
  require(cudaEventDestroy(event));
  return y.values();
}

int right_orders(bool waits) {
  int right = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const TestDevice device;
    set_seed(seed);
    if (produced_and_consumed(waits) == std::vector<float>(32, 6.0F)) ++right;
  }
  return right;
}

TEST_CASE("an event orders two streams in every order that they may run in") { CHECK(right_orders(true) == 20); }

TEST_CASE("a wait that is left out shows in some orders of the streams") {
  const int right = right_orders(false);
  CHECK(right < 20);
  CHECK(right > 0);
}

TEST_CASE("streams run nothing until the host waits or asks") {
  const TestDevice device;
  const TestStream stream;
  bool has_run = false;
  require(enqueue_work(stream, [&] { has_run = true; }));
  CHECK(!has_run);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);  // asking lets the device go on
  CHECK(has_run);
}

TEST_CASE("an event counts as reached once its latest record is") {
  const TestDevice device;
  const TestStream stream;
  cudaEvent_t event = nullptr;
  require(cudaEventCreate(&event));
  CHECK(cudaEventQuery(event) == cudaSuccess);
  require(enqueue_work(stream, [] {}));
  require(enqueue_work(stream, [] {}));
  require(cudaEventRecord(event, stream));
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorNotReady);
  require(cudaEventSynchronize(event));
  CHECK(cudaEventQuery(event) == cudaSuccess);
  require(cudaEventElapsedTime(&milliseconds, event, event));
  CHECK(milliseconds == 0.0F);
  require(cudaEventDestroy(event));
}

TEST_CASE("an event without timing has no elapsed time") {
  const TestDevice device;
  const TestStream stream;
  cudaEvent_t event = nullptr;
  require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  require(cudaEventRecord(event, stream));
  require(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("a host function runs in its stream's order and may not call the API") {
  const TestDevice device;
  const TestStream stream;
  std::vector<int> seen;
  const auto first = [](void* to) { static_cast<std::vector<int>*>(to)->push_back(1); };
  const auto second = [](void* to) { static_cast<std::vector<int>*>(to)->push_back(cudaDeviceSynchronize()); };
  require(cudaLaunchHostFunc(stream, first, &seen));
  require(cudaLaunchHostFunc(stream, second, &seen));
  require(cudaStreamSynchronize(stream));
  CHECK(seen == std::vector<int>{1, cudaErrorNotPermitted});
}

TEST_CASE("parts of a collective run together once all are next") {
  const TestDevice device;
  const TestStream a;
  const TestStream b;
  std::vector<std::string> seen;
  require(enqueue_work(b, [&] { seen.emplace_back("before b"); }));
  for (const cudaStream_t stream : {static_cast<cudaStream_t>(a), static_cast<cudaStream_t>(b)})
    require(enqueue_collective(stream, {.key = "sum",
                                        .parts = 2,
                                        .arrive = [&] { seen.emplace_back("arrive"); },
                                        .together = [&] { seen.emplace_back("together"); }}));
  require(cudaDeviceSynchronize());
  CHECK(seen == std::vector<std::string>{"before b", "arrive", "arrive", "together"});
}

TEST_CASE("a call fails where a test asks for it, and only there") {
  const TestDevice device;
  fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  CHECK(cudaMalloc(&a, 8) == cudaSuccess);
  CHECK(cudaMalloc(&b, 8) == cudaErrorMemoryAllocation);
  CHECK(b == nullptr);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&c, 8) == cudaSuccess);
  CHECK(calls_made().at("cudaMalloc") == 3);
}

TEST_CASE("a kernel that fails leaves its error until the device is reset") {
  const TestDevice device;
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  const DeviceArray<float> x(32);
  fail_call("kernel", 2, cudaErrorLaunchFailure);
  for (int i = 0; i < 3; ++i) require(launch_on(stream, 1, 32, write, x.data, 1.0F));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
  CHECK_THAT(last_problem(), ContainsSubstring("asked for"));
  void* more = nullptr;
  CHECK(cudaMalloc(&more, 8) == cudaErrorLaunchFailure);
  cudaDeviceReset();
  CHECK(cudaMalloc(&more, 8) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("launches outside of the limits are refused") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(1);
  CHECK(launch_on(stream, 1, 1025, write, x.data, 1.0F) == cudaErrorInvalidConfiguration);
  CHECK(launch_on(stream, dim3(1, 65536), 1, write, x.data, 1.0F) == cudaErrorInvalidConfiguration);
  CHECK(launch_on(stream, 0, 1, write, x.data, 1.0F) == cudaErrorInvalidConfiguration);
  CHECK(launch_on(nullptr, 1, 1, write, x.data, 1.0F) == cudaErrorInvalidResourceHandle);
  cudaLaunchConfig_t config{};
  config.dynamicSmemBytes = std::size_t{64} << 10;
  config.stream = stream;
  CHECK(cudaLaunchKernelEx(&config, write, x.data, 1.0F) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(write, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 << 10) == cudaErrorInvalidValue);
  require(cudaFuncSetAttribute(write, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  CHECK(cudaLaunchKernelEx(&config, write, x.data, 1.0F) == cudaSuccess);
}

TEST_CASE("no device and an old driver are said") {
  const TestDevice device;
  int count = -1;
  set_device({.count = 0});
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(count == 0);
  set_device({.driver_version = 0});
  CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
  CHECK(std::string(cudaGetErrorString(cudaErrorInsufficientDriver)) ==
        "CUDA driver version is insufficient for CUDA runtime version");
  set_device({});
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaSetDevice(0) == cudaSuccess);
}

}  // namespace
}  // namespace cuda_on_cpu
