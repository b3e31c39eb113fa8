#include "tests/cuda_on_cpu/thread_block.h"

#include <cuda_runtime.h>

#include <numeric>
#include <optional>

#include "tests/cuda_on_cpu/test_device.h"

namespace cuda_on_cpu {
namespace {

constexpr unsigned all_lanes = 0xffffffffU;
using Catch::Matchers::ContainsSubstring;

__global__ void mirror(const float* x, float* y) {
  __shared__ float values[64];
  values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void mirror_without_barrier(const float* x, float* y) {
  __shared__ float values[64];
  values[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[63 - threadIdx.x];
}

__global__ void sum_of_warp(const int* x, int* y) {
  int v = x[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) v += __shfl_xor_sync(all_lanes, v, distance);
  y[threadIdx.x] = v;
}

__global__ void shifted(int* down, int* up, int* first_of_eight) {
  const int lane = static_cast<int>(threadIdx.x);
  down[lane] = __shfl_down_sync(all_lanes, lane, 3);
  up[lane] = __shfl_up_sync(all_lanes, lane, 3);
  first_of_eight[lane] = __shfl_sync(all_lanes, lane, 0, 8);
}

__global__ void half_a_barrier(float* y) {
  if (threadIdx.x < 40) __syncthreads();
  y[threadIdx.x] = 1;
}

__global__ void two_barriers(float* y) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  y[threadIdx.x] = 1;
}

__global__ void shuffle_of_half_a_warp(int* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_xor_sync(all_lanes, y[threadIdx.x], 1);
}

__global__ void barrier_meets_shuffle(int* y) {
  if (threadIdx.x < 16)
    __syncwarp();
  else
    y[threadIdx.x] = __shfl_xor_sync(all_lanes, y[threadIdx.x], 1);
}

__global__ void unset_shared(float* y) {
  __shared__ float value;
  if (blockIdx.x == 0) value = 1;
  y[blockIdx.x] = value;
}

__global__ void number_all(int* y) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned per_block = blockDim.x * blockDim.y * blockDim.z;
  y[block * per_block + thread] = static_cast<int>(block * per_block + thread);
}

__global__ void write_behind(float* y, int n) {
  y[static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x)] = static_cast<float>(n);
}

__global__ void write_dynamic(float* y, int at) {
  auto* shared = reinterpret_cast<float*>(dynamic_shared_memory());
  shared[at] = 3;
  y[0] = shared[at];
}

__global__ void copy_without_waiting(const float* x, float* y) {
  __shared__ float value[4];
  async_copy(value, x, sizeof value);
  commit_async_copies();
  y[0] = value[0];
  wait_for_async_copies(0);
  y[1] = value[0];
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

/// The text of what goes wrong in one block of a kernel.
template <class... P, class... A>
std::string problem_of(unsigned threads, void (*kernel)(P...), A... arguments) {
  const TestStream stream;
  require(launch_on(stream, 1, threads, kernel, arguments...));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
  return last_problem();
}

TEST_CASE("threads of a block exchange values over a barrier, in every order of threads") {
  for (const ThreadOrder order : all_thread_orders) {
    const TestDevice device;
    set_thread_order(order);
    const TestStream stream;
    const DeviceArray<float> x(counted(64));
    const DeviceArray<float> y(64);
    require(launch_on(stream, 1, 64, mirror, x.data, y.data));
    require(cudaStreamSynchronize(stream));
    std::vector<float> expected = counted(64);
    std::reverse(expected.begin(), expected.end());
    CHECK(y.values() == expected);
  }
}

TEST_CASE("a missing barrier gives other values in each order of threads") {
  for (const ThreadOrder order : all_thread_orders) {
    const TestDevice device;
    set_thread_order(order);
    const TestStream stream;
    const DeviceArray<float> x(counted(64));
    const DeviceArray<float> y(64);
    require(launch_on(stream, 1, 64, mirror_without_barrier, x.data, y.data));
    require(cudaStreamSynchronize(stream));
    std::vector<float> expected = counted(64);
    std::reverse(expected.begin(), expected.end());
    CHECK(y.values() != expected);
  }
}

TEST_CASE("lanes of a warp shuffle") {
  const TestDevice device;
  set_thread_order(ThreadOrder::shuffled);
  const TestStream stream;
  std::vector<int> ones(64, 1);
  const DeviceArray<int> x(ones);
  const DeviceArray<int> y(64);
  require(launch_on(stream, 1, 64, sum_of_warp, x.data, y.data));
  const DeviceArray<int> down(32);
  const DeviceArray<int> up(32);
  const DeviceArray<int> first(32);
  require(launch_on(stream, 1, 32, shifted, down.data, up.data, first.data));
  require(cudaStreamSynchronize(stream));
  CHECK(y.values() == std::vector<int>(64, 32));
  CHECK(down.values()[4] == 7);
  CHECK(down.values()[30] == 30);  // the lane behind the last is its own
  CHECK(up.values()[4] == 1);
  CHECK(up.values()[2] == 2);
  CHECK(first.values()[21] == 16);
}

TEST_CASE("every thread of every block runs once, in three dimensions") {
  for (const ThreadOrder order : all_thread_orders) {
    const TestDevice device;
    set_thread_order(order);
    const TestStream stream;
    const DeviceArray<int> y(std::size_t{2 * 3 * 5 * 7 * 2 * 3});
    require(launch_on(stream, dim3(2, 3, 5), dim3(7, 2, 3), number_all, y.data));
    require(cudaStreamSynchronize(stream));
    std::vector<int> expected(y.count);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(y.values() == expected);
  }
}

TEST_CASE("a barrier that some threads never reach is reported with file and line") {
  const TestDevice device;
  const DeviceArray<float> y(64);
  const std::string text = problem_of(64, half_a_barrier, y.data);
  CHECK_THAT(text, ContainsSubstring("thread_block_test.cpp:") && ContainsSubstring("half_a_barrier") &&
                       ContainsSubstring("24 have ended"));
}

TEST_CASE("threads of a block that wait at different barriers are reported") {
  const TestDevice device;
  const DeviceArray<float> y(64);
  CHECK_THAT(problem_of(64, two_barriers, y.data),
             ContainsSubstring("different barriers") && ContainsSubstring("thread_block_test.cpp:"));
}

TEST_CASE("a shuffle that lanes of its mask never reach is reported") {
  const TestDevice device;
  const DeviceArray<int> y(32);
  CHECK_THAT(problem_of(32, shuffle_of_half_a_warp, y.data), ContainsSubstring("no thread of the block can go on"));
}

TEST_CASE("lanes that do different things at once are reported") {
  const TestDevice device;
  const DeviceArray<int> y(32);
  CHECK_THAT(problem_of(32, barrier_meets_shuffle, y.data), ContainsSubstring("something else at"));
}

TEST_CASE("shared memory holds NaNs when a block begins") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> y(2);
  require(launch_on(stream, 2, 1, unset_shared, y.data));
  require(cudaStreamSynchronize(stream));
  CHECK(y.values()[0] == 1.0F);
  CHECK(std::isnan(y.values()[1]));
}

TEST_CASE("a write behind an allocation ends the kernel, with block and thread") {
  const TestDevice device;
  set_alignment(16);
  const TestStream stream;
  const DeviceArray<float> y(100);
  require(launch_on(stream, 4, 32, write_behind, y.data, 100));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK_THAT(last_problem(), ContainsSubstring("block (3, 0, 0) thread (4, 0, 0)"));
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);  // it stays
}

TEST_CASE("dynamic shared memory has the bytes that were asked for") {
  for (const int at : {3, 4}) {
    const TestDevice device;
    const TestStream stream;
    const DeviceArray<float> y(1);
    cudaLaunchConfig_t config{};
    config.dynamicSmemBytes = 16;
    config.stream = stream;
    require(cudaLaunchKernelEx(&config, write_dynamic, y.data, at));
    CHECK(cudaStreamSynchronize(stream) == (at == 3 ? cudaSuccess : cudaErrorIllegalAddress));
  }
}

TEST_CASE("an asynchronous copy is there once it is waited for, not before") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(counted(4));
  const DeviceArray<float> y(2);
  require(launch_on(stream, 1, 1, copy_without_waiting, x.data, y.data));
  require(cudaStreamSynchronize(stream));
  CHECK(std::isnan(y.values()[0]));
  CHECK(y.values()[1] == 1.0F);
}

}  // namespace
}  // namespace cuda_on_cpu
