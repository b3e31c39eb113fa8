#include <cuda_runtime.h>
#include <chrono>

#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include "tests/cuda_on_cpu/test_device.h"

namespace cuda_on_cpu {
namespace {

__global__ void add_to(float* to, float value) { to[threadIdx.x] += value; }

class TestEvent {
 public:
  TestEvent() { require(cudaEventCreate(&event_)); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  ~TestEvent() { cudaEventDestroy(event_); }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// What the graph of a capture that the calls of `capture` make; nothing is run.
template <class Act>
cudaGraphExec_t captured(cudaStream_t stream, Act capture) {
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  capture();
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  require(cudaGraphInstantiate(&executable, graph));
  require(cudaGraphDestroy(graph));
  return executable;
}

TEST_CASE("a graph runs nothing before it is launched, and then each time, with the arguments of its capture") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(std::vector<float>(4, 0.0F));
  float value = 1;
  const cudaGraphExec_t graph = captured(stream, [&] { require(launch_on(stream, 1, 4, add_to, x.data, value)); });
  value = 100;
  require(cudaDeviceSynchronize());
  CHECK(x.values() == std::vector<float>(4, 0.0F));
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(graph, stream));
  require(cudaStreamSynchronize(stream));
  CHECK(x.values() == std::vector<float>(4, 3.0F));
  require(cudaGraphExecDestroy(graph));
  CHECK(cudaGraphLaunch(graph, stream) == cudaErrorInvalidValue);
}

TEST_CASE("a copy in a graph reads its memory at each launch") {
  const TestDevice device;
  const TestStream stream;
  const DeviceArray<float> x(1);
  float* locked = nullptr;
  require(cudaMallocHost(&locked, sizeof(float)));
  std::vector<float> pageable{5};
  const DeviceArray<float> y(1);
  *locked = 5;
  const cudaGraphExec_t graph = captured(stream, [&] {
    require(cudaMemcpyAsync(x.data, locked, sizeof(float), cudaMemcpyHostToDevice, stream));
    require(cudaMemcpyAsync(y.data, pageable.data(), sizeof(float), cudaMemcpyHostToDevice, stream));
  });
  *locked = 6;
  pageable[0] = 7;
  require(cudaGraphLaunch(graph, stream));
  require(cudaStreamSynchronize(stream));
  CHECK(x.values() == std::vector<float>{6});
  CHECK(y.values() == std::vector<float>{7});
  require(cudaGraphExecDestroy(graph));
  require(cudaFreeHost(locked));
}

/// Two streams fork from a third and join it again: in which orders their nodes run.
std::vector<int> order_of(unsigned seed) {
  const TestDevice device;
  set_seed(seed);
  const TestStream origin;
  const TestStream a;
  const TestStream b;
  const TestEvent fork;
  const TestEvent join_a;
  const TestEvent join_b;
  std::vector<int> seen;
  const auto work = [&](cudaStream_t stream, int number) {
    require(enqueue_work(stream, [&seen, number] { seen.push_back(number); }));
  };
  const cudaGraphExec_t graph = captured(origin, [&] {
    work(origin, 0);
    require(cudaEventRecord(fork, origin));
    require(cudaStreamWaitEvent(a, fork));
    require(cudaStreamWaitEvent(b, fork));
    for (int i = 1; i <= 2; ++i) work(a, i);
    for (int i = 3; i <= 4; ++i) work(b, i);
    require(cudaEventRecord(join_a, a));
    require(cudaEventRecord(join_b, b));
    require(cudaStreamWaitEvent(origin, join_a));
    require(cudaStreamWaitEvent(origin, join_b));
    work(origin, 5);
  });
  require(cudaGraphLaunch(graph, origin));
  require(cudaStreamSynchronize(origin));
  require(cudaGraphExecDestroy(graph));
  return seen;
}

TEST_CASE("nodes of a graph run in every order that its forks leave, and in no other") {
  std::set<std::vector<int>> orders;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::vector<int> order = order_of(seed);
    REQUIRE(order.size() == 6);
    const auto place = [&](int number) { return std::find(order.begin(), order.end(), number) - order.begin(); };
    CHECK(place(0) == 0);
    CHECK(place(5) == 5);
    CHECK(place(1) < place(2));
    CHECK(place(3) < place(4));
    orders.insert(order);
  }
  CHECK(orders.size() == 6);  // 4! / (2! 2!)
}

TEST_CASE("an external event in a graph is recorded by each launch, and is no captured event") {
  const TestDevice device;
  const TestStream stream;
  const TestEvent begin;
  const TestEvent end;
  float milliseconds = -1;
  CHECK(cudaEventRecordWithFlags(begin, stream, cudaEventRecordExternal) == cudaErrorInvalidValue);
  const cudaGraphExec_t graph = captured(stream, [&] {
    require(cudaEventRecordWithFlags(begin, stream, cudaEventRecordExternal));
    require(enqueue_work(stream, [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }));
    require(cudaEventRecordWithFlags(end, stream, cudaEventRecordExternal));
  });
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorInvalidResourceHandle);  // recorded by no launch
  require(cudaGraphLaunch(graph, stream));
  require(cudaStreamSynchronize(stream));
  require(cudaEventSynchronize(end));
  require(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds >= 2);
  require(cudaGraphExecDestroy(graph));
}

/// The error of a call inside of a capture, and the one that its end then gives.
struct Broken {
  cudaError_t call = cudaSuccess;
  cudaError_t end = cudaSuccess;
  bool operator==(const Broken&) const = default;
};

template <class Call>
Broken broken_by(Call call, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
  const TestDevice device;
  const TestStream stream;
  Broken broken;
  require(cudaStreamBeginCapture(stream, mode));
  require(enqueue_work(stream, [] {}));
  broken.call = call(stream);
  if (broken.call != cudaSuccess) CHECK(enqueue_work(stream, [] {}) == cudaErrorStreamCaptureInvalidated);
  cudaGraph_t graph = nullptr;
  broken.end = cudaStreamEndCapture(stream, &graph);
  CHECK((graph == nullptr) == (broken.end != cudaSuccess));
  if (graph != nullptr) require(cudaGraphDestroy(graph));
  CHECK(enqueue_work(stream, [] {}) == cudaSuccess);  // the stream is none of a capture any more
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  return broken;
}

TEST_CASE("what waits, asks or allocates breaks a capture") {
  const Broken unsupported{cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated};
  void* memory = nullptr;
  float milliseconds = 0;
  const auto malloc_call = [&](cudaStream_t) { return cudaMalloc(&memory, 8); };
  CHECK(broken_by(malloc_call) == unsupported);
  CHECK(broken_by(malloc_call, cudaStreamCaptureModeGlobal) == unsupported);
  CHECK(broken_by(malloc_call, cudaStreamCaptureModeRelaxed) == Broken());
  CHECK(broken_by([](cudaStream_t stream) { return cudaStreamSynchronize(stream); }) == unsupported);
  CHECK(broken_by([](cudaStream_t stream) { return cudaStreamSynchronize(stream); }, cudaStreamCaptureModeRelaxed) ==
        unsupported);
  CHECK(broken_by([](cudaStream_t stream) { return cudaStreamQuery(stream); }) == unsupported);
  CHECK(broken_by([](cudaStream_t) { return cudaDeviceSynchronize(); }) == unsupported);
  CHECK(broken_by([](cudaStream_t) { return cudaDeviceSynchronize(); }, cudaStreamCaptureModeRelaxed) == unsupported);
  CHECK(broken_by([&](cudaStream_t) { return cudaMallocHost(&memory, 8); }) == unsupported);
  CHECK(broken_by([&](cudaStream_t) { return cudaMemcpy(&memory, &memory, 8, cudaMemcpyDefault); }) == unsupported);
  CHECK(broken_by([](cudaStream_t) { return cudaEventQuery(TestEvent()); }) == unsupported);
  CHECK(broken_by([](cudaStream_t) { return cudaEventSynchronize(TestEvent()); }) == unsupported);
  const auto elapsed = [&](cudaStream_t stream) {
    const TestEvent event;
    require(cudaEventRecord(event, stream));
    return cudaEventElapsedTime(&milliseconds, event, event);
  };
  CHECK(broken_by(elapsed) == Broken{cudaErrorCapturedEvent, cudaErrorStreamCaptureInvalidated});
  const auto query_captured = [](cudaStream_t stream) {
    const TestEvent event;
    require(cudaEventRecord(event, stream));
    return cudaEventQuery(event);
  };
  CHECK(broken_by(query_captured, cudaStreamCaptureModeRelaxed) ==
        Broken{cudaErrorCapturedEvent, cudaErrorStreamCaptureInvalidated});
}

TEST_CASE("what would depend on the other side of a capture breaks it") {
  const auto waits_for_outside = [](cudaStream_t stream) {
    const TestStream other;
    const TestEvent event;
    require(cudaEventRecord(event, other));
    return cudaStreamWaitEvent(stream, event);
  };
  CHECK(broken_by(waits_for_outside) == Broken{cudaErrorStreamCaptureIsolation, cudaErrorStreamCaptureInvalidated});
  const auto merges = [](cudaStream_t stream) {
    const TestStream other;
    const TestEvent event;
    require(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
    require(cudaEventRecord(event, other));
    const cudaError_t error = cudaStreamWaitEvent(stream, event);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(other, &graph) == cudaErrorStreamCaptureInvalidated);
    return error;
  };
  CHECK(broken_by(merges) == Broken{cudaErrorStreamCaptureMerge, cudaErrorStreamCaptureInvalidated});
  const auto begins_again = [](cudaStream_t stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  };
  CHECK(broken_by(begins_again) == Broken{cudaErrorIllegalState, cudaErrorStreamCaptureInvalidated});
  const auto collective = [](cudaStream_t stream) {
    return enqueue_collective(stream, {.key = "sum", .parts = 2, .arrive = {}, .together = {}});
  };
  CHECK(broken_by(collective) == Broken{cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated});
}

TEST_CASE("a fork that is not joined, another stream or thread than that of the begin end no capture") {
  const TestStream other;
  const auto forks = [&](cudaStream_t stream) {
    const TestEvent event;
    require(cudaEventRecord(event, stream));
    require(cudaStreamWaitEvent(other, event));
    return enqueue_work(other, [] {});
  };
  CHECK(broken_by(forks) == Broken{cudaSuccess, cudaErrorStreamCaptureUnjoined});
  cudaGraph_t graph = nullptr;
  const auto ends_on_other = [&](cudaStream_t stream) {
    require(forks(stream));
    return cudaStreamEndCapture(other, &graph);
  };
  CHECK(broken_by(ends_on_other) == Broken{cudaErrorStreamCaptureUnmatched, cudaErrorStreamCaptureInvalidated});
  const auto ends_elsewhere = [&](cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    std::thread([&] { error = cudaStreamEndCapture(stream, &graph); }).join();
    return error;
  };
  CHECK(broken_by(ends_elsewhere) == Broken{cudaErrorStreamCaptureWrongThread, cudaErrorStreamCaptureInvalidated});
  CHECK(cudaStreamEndCapture(other, &graph) == cudaErrorIllegalState);
}

TEST_CASE("the legacy stream may not wait for a capture, and other threads may do what they like") {
  const TestDevice device;
  cudaStream_t blocking = nullptr;
  require(cudaStreamCreate(&blocking));
  require(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
  int value = 0;
  CHECK(cudaMemcpy(&value, &value, sizeof value, cudaMemcpyDefault) == cudaErrorStreamCaptureImplicit);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(blocking, &graph) == cudaErrorStreamCaptureInvalidated);
  require(cudaStreamDestroy(blocking));
  const auto allocates = [](cudaStream_t) {
    cudaError_t error = cudaSuccess;
    void* memory = nullptr;
    std::thread([&] { error = cudaMalloc(&memory, 8); }).join();
    return error;
  };
  CHECK(broken_by(allocates) == Broken());
  CHECK(broken_by(allocates, cudaStreamCaptureModeGlobal).call == cudaErrorStreamCaptureUnsupported);
}

TEST_CASE("a kernel of a graph that fails leaves its error") {
  const TestDevice device;
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const DeviceArray<float> x(4);
  const cudaGraphExec_t graph = captured(stream, [&] { require(launch_on(stream, 1, 4, add_to, x.data, 1.0F)); });
  fail_call("kernel", 2, cudaErrorLaunchFailure);
  require(cudaGraphLaunch(graph, stream));
  require(cudaStreamSynchronize(stream));
  require(cudaGraphLaunch(graph, stream));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorLaunchFailure);
}

}  // namespace
}  // namespace cuda_on_cpu
