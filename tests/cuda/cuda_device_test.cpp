#include "runtime/cuda/cuda_device.h"

#include <chrono>
#include <numeric>

#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/reduce_contributions.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace {

using Numbers = std::vector<float>;

Bytes size_of(const Numbers& numbers) { return Bytes(static_cast<std::int64_t>(numbers.size() * sizeof(float))); }

Numbers counted(std::size_t count, float first = 0) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// A device of a computer as it is started.
struct Fresh {
  Fresh() {
    cuda_on_cpu::set_device({});
    (void)cudaDeviceReset();
  }
  ~Fresh() {
    cuda_on_cpu::set_device({});
    cuda_on_cpu::set_capacity(std::size_t{1} << 30);
  }
};

/// Work of a stream that adds one to every number.
void add_one(float* numbers, std::size_t count) {
  (void)cuda_on_cpu::enqueue_work(current_stream(), [=] {
    for (std::size_t i = 0; i < count; ++i) numbers[i] += 1;
  });
}

template <class Error>
std::string failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("What is uploaded is what is downloaded, though the host's memory changes at once") {
  const Fresh fresh;
  CudaDevice device(0, cpu_kernels());
  const DeviceMemory memory = device.reserve(Bytes(4000));
  CHECK(reinterpret_cast<std::uintptr_t>(memory.get()) % 256 == 0);
  Numbers numbers = counted(1000);
  device.upload(Stream::compute, memory.get(), numbers.data(), size_of(numbers));
  std::fill(numbers.begin(), numbers.end(), -1.0F);
  device.download(Stream::compute, numbers.data(), memory.get(), size_of(numbers));
  device.finish_all();
  CHECK(numbers == counted(1000));
}

TEST_CASE("Copies and fills run in the order of their lane") {
  const Fresh fresh;
  CudaDevice device(0, cpu_kernels());
  const DeviceMemory a = device.reserve(Bytes(400));
  const DeviceMemory b = device.reserve(Bytes(400));
  Numbers numbers = counted(100, 1);
  device.upload(Stream::data, a.get(), numbers.data(), size_of(numbers));
  device.copy(Stream::data, b.get(), a.get(), size_of(numbers));
  device.fill(Stream::data, b.get(), std::byte{0}, Bytes(200));
  device.download(Stream::data, numbers.data(), b.get(), size_of(numbers));
  device.finish_all();
  CHECK(numbers[49] == 0);
  CHECK(numbers[50] == 51);
  device.copy(Stream::data, nullptr, nullptr, Bytes(0));
  device.upload(Stream::data, nullptr, nullptr, Bytes(0));
  device.fill(Stream::data, nullptr, std::byte{0}, Bytes(0));
}

/// One lane writes, another one adds one, the first reads: what is read, in one order of streams.
float across_lanes(unsigned seed, int waits) {
  const Fresh fresh;
  cuda_on_cpu::set_seed(seed);
  CudaDevice device(0, cpu_kernels());
  const DeviceMemory memory = device.reserve(Bytes(4));
  auto* const number = reinterpret_cast<float*>(memory.get());
  float read = 5;
  device.upload(Stream::compute, number, &read, Bytes(4));
  if (waits > 0) device.wait(Stream::data, device.mark(Stream::compute));
  device.enqueue(Stream::data, [&] { add_one(number, 1); });
  if (waits > 1) device.wait(Stream::compute, device.mark(Stream::data));
  device.enqueue(Stream::compute, [&] { add_one(number, 1); });
  device.fill(Stream::pipeline, memory.get(), std::byte{0}, Bytes(0));
  device.finish_all();
  device.download(Stream::compute, &read, number, Bytes(4));
  device.finish_all();
  return read;
}

TEST_CASE("A lane that waits for a mark runs behind it, in every order of streams") {
  for (unsigned seed = 1; seed <= 20; ++seed) CHECK(across_lanes(seed, 2) == 7);
}

TEST_CASE("Without the wait some order of streams is seen to be wrong") {
  int wrong = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) wrong += across_lanes(seed, 0) == 7 ? 0 : 1;
  CHECK(wrong > 0);
}

TEST_CASE("Enqueued work launches on its lane, and other work of the thread on the compute lane") {
  const Fresh fresh;
  CudaDevice device(0, cpu_kernels());
  const cudaStream_t compute = current_stream();
  cudaStream_t inside = nullptr;
  device.enqueue(Stream::data, [&] { inside = current_stream(); });
  CHECK(inside != compute);
  CHECK(current_stream() == compute);
  CHECK_THROWS_AS(device.enqueue(Stream::data, [] { throw std::runtime_error("work"); }), std::runtime_error);
  CHECK(current_stream() == compute);
}

TEST_CASE("Marks are passed in order, and their events are used again") {
  const Fresh fresh;
  CudaDevice device(0, cpu_kernels());
  const DeviceMemory memory = device.reserve(Bytes(4));
  for (int i = 0; i < 1000; ++i) {
    device.fill(Stream::compute, memory.get(), std::byte{1}, Bytes(4));
    device.finish(device.mark(Stream::compute));
  }
  CHECK(cuda_on_cpu::calls_made()["cudaEventCreateWithFlags"] < 10);
  const Mark first = device.mark(Stream::compute);
  const Mark second = device.mark(Stream::compute);
  device.finish(second);
  device.finish(first);  // which is passed
}

TEST_CASE("Timed marks say how long the work between them took") {
  const Fresh fresh;
  CudaDevice device(0, cpu_kernels());
  const Mark begin = device.timed_mark(Stream::compute);
  device.enqueue(Stream::compute, [] {
    (void)cuda_on_cpu::enqueue_work(current_stream(), [] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (std::chrono::steady_clock::now() < until) continue;
    });
  });
  const Mark end = device.timed_mark(Stream::compute);
  CHECK(device.elapsed_ns(begin, end) >= 2'000'000);
  device.forget_times();
  CHECK_THROWS_AS(device.elapsed_ns(begin, end), InternalError);
}

TEST_CASE("A device without room says what was asked and what is free") {
  const Fresh fresh;
  cuda_on_cpu::set_capacity(std::size_t{1} << 20);
  CudaDevice device(0, cpu_kernels());
  const std::string text = failure_of<std::bad_alloc>([&] { (void)device.reserve(Bytes(std::int64_t{1} << 21)); });
  INFO(text);
  CHECK(has(text, "cudaMalloc: 2.00 MiB were asked of the device, and 1.00 MiB of 1.00 MiB are free"));
  CHECK(device.reserve(Bytes(0)) != nullptr);  // the failure is no error of what follows
  device.fill(Stream::compute, device.reserve(Bytes(8)).get(), std::byte{0}, Bytes(8));
  device.finish_all();
}

TEST_CASE("Each call that fails is named") {
  const auto text_with = [](const std::string& call) {
    const Fresh fresh;
    return failure_of<std::exception>([&] {
      cuda_on_cpu::fail_call(call, 1, cudaErrorUnknown);
      CudaDevice device(0, cpu_kernels());
      const DeviceMemory memory = device.reserve(Bytes(64));
      float number = 1;
      device.upload(Stream::compute, memory.get(), &number, Bytes(4));
      device.fill(Stream::compute, memory.get(), std::byte{0}, Bytes(4));
      device.wait(Stream::data, device.mark(Stream::compute));
      const Mark begin = device.timed_mark(Stream::compute);
      (void)device.elapsed_ns(begin, device.timed_mark(Stream::compute));
      device.finish(device.mark(Stream::data));
      device.finish_all();
    });
  };
  for (const char* const call :
       {"cudaGetDeviceCount", "cudaSetDevice", "cudaStreamCreateWithFlags", "cudaMalloc", "cudaHostAlloc",
        "cudaMemcpyAsync", "cudaMemsetAsync", "cudaEventCreateWithFlags", "cudaEventRecord", "cudaStreamWaitEvent",
        "cudaEventElapsedTime", "cudaEventQuery", "cudaEventSynchronize", "cudaStreamSynchronize"}) {
    INFO(call);
    CHECK(has(text_with(call), std::string(call)));
    CHECK(has(text_with(call), "unknown error"));
  }
}

TEST_CASE("Without a driver or a GPU there is one sentence") {
  const Fresh fresh;
  cuda_on_cpu::set_device({.count = 0});
  CHECK(has(failure_of<EnvironmentError>([] { (void)require_cuda_devices(); }), "no GPU can be used"));
  cuda_on_cpu::set_device({.count = 0, .driver_version = 0});
  CHECK(has(failure_of<EnvironmentError>([] { CudaDevice(0, cpu_kernels()); }), "no GPU can be used"));
}

TEST_CASE("Ranks share the devices in turn") {
  const Fresh fresh;
  CHECK(require_cuda_devices() == 1);
  const CudaDevice third(3, cpu_kernels());
  CHECK(current_stream() != nullptr);
}

TEST_CASE("A thread without a device launches nothing") {
  const Fresh fresh;
  { const CudaDevice gone(0, cpu_kernels()); }
  CHECK_THROWS_AS(current_stream(), InternalError);
}

TEST_CASE("A kernel that fails on the device is an error of whoever waits for it") {
  const Fresh fresh;
  const std::string text = failure_of<CudaError>([] {
    CudaDevice device(0, cpu_kernels());
    const DeviceMemory memory = device.reserve(Bytes(64));
    const std::span<std::byte> whole(memory.get(), 64);
    const std::span<const std::byte> one = whole;
    cuda_on_cpu::fail_call("kernel", 1, cudaErrorIllegalAddress);
    reduce_contributions(std::span(&one, 1), whole, ElementFormat::fp32, Reduction::sum, current_stream());
    device.finish_all();
  });
  INFO(text);
  CHECK(has(text, "cudaStreamSynchronize: an illegal memory access was encountered (error 700)"));
}

}  // namespace
}  // namespace plumbline
