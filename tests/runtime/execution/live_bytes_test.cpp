#include "runtime/execution/live_bytes.h"

#include <cmath>
#include <cstring>

#include "runtime/device/cpu_device.h"
#include "runtime/execution/backend.h"
#include "tests/catch.h"

namespace plumbline::live_bytes_test {
namespace {

constexpr Bytes kib(1024);

}  // namespace

// Action 0: 100 of weights and 30 of activations live together: 130. Action 1: 20 of buffers after the activations were
// let go, but each class has an arena of its own: 100 + 30 + 20 is never asked for at once and yet must be there.
TEST_CASE("an action needs the most of every class, whether or not those moments coincide") {
  LiveBytes live;
  live.bind(MemoryClass::weights, Bytes(100));
  live.begin_action();
  live.bind(MemoryClass::activations, Bytes(30));
  live.end_action(0);
  CHECK(live.peak().device_total() == Bytes(130));
  CHECK(live.peak_action() == 0);

  live.begin_action();
  live.release(MemoryClass::activations, Bytes(30));
  live.bind(MemoryClass::working_buffers, Bytes(20));
  live.end_action(1);
  CHECK(live.live().device_total() == Bytes(120));
  CHECK(live.most().device_total() == Bytes(150));
  CHECK(live.peak()[MemoryClass::activations] == Bytes(30));
  CHECK(live.peak_action() == 1);
}

TEST_CASE("the peak's action is the first of those that are as large") {
  LiveBytes live;
  for (const std::int32_t action : {4, 5}) {
    live.begin_action();
    live.bind(MemoryClass::activations, Bytes(64));
    live.release(MemoryClass::activations, Bytes(64));
    live.end_action(action);
  }
  CHECK(live.peak_action() == 4);
  CHECK(live.live().device_total() == Bytes(0));
}

TEST_CASE("releasing what was not bound is our bug") {
  LiveBytes live;
  live.bind(MemoryClass::gradients, Bytes(8));
  CHECK_THROWS_AS(live.release(MemoryClass::gradients, Bytes(9)), InternalError);
  CHECK_THROWS_AS(live.release(MemoryClass::weights, Bytes(1)), InternalError);
}

TEST_CASE("memory that was given back serves the next tensor of its size") {
  CpuDevice device;
  Backend backend(device);
  std::byte* first = nullptr;
  {
    const BufferRef held = backend.bind(MemoryClass::activations, kib);
    first = held->data();
    CHECK(backend.live().live()[MemoryClass::activations] == kib);
  }
  CHECK(backend.live().live()[MemoryClass::activations] == Bytes(0));
  const BufferRef again = backend.bind(MemoryClass::working_buffers, kib);
  CHECK(again->data() == first);
  CHECK(backend.arena_bytes() == kib);
  const BufferRef second = backend.bind(MemoryClass::working_buffers, kib);
  CHECK(second->data() != first);
  CHECK(backend.arena_bytes() == Bytes(2 * 1024));
}

TEST_CASE("a buffer counts as its class until it is said to be of another") {
  CpuDevice device;
  Backend backend(device);
  const BufferRef held = backend.bind(MemoryClass::working_buffers, kib);
  held->count_as(MemoryClass::gradients);
  CHECK(backend.live().live()[MemoryClass::working_buffers] == Bytes(0));
  CHECK(backend.live().live()[MemoryClass::gradients] == kib);
}

TEST_CASE("poisoned memory holds NaN each time it is handed out") {
  CpuDevice device;
  Backend backend(device, Poison::yes);
  for (int i = 0; i < 2; ++i) {
    const BufferRef held = backend.bind(MemoryClass::activations, Bytes(4));
    float number = 0;
    std::memcpy(&number, held->data(), sizeof number);
    CHECK(std::isnan(number));
    number = 1;
    std::memcpy(held->data(), &number, sizeof number);
  }
}

TEST_CASE("a workspace is the same memory for each call of one use and is not live") {
  CpuDevice device;
  Backend backend(device);
  const Workspace large = backend.workspace(Bytes(4096));
  CHECK(backend.workspace(Bytes(64)).data == large.data);
  CHECK(backend.workspace(Bytes(64), ScratchUse::weight).data != large.data);
  CHECK(backend.workspace_bytes() == Bytes(4096 + 64));
  CHECK(backend.live().live().device_total() == Bytes(0));
}

}  // namespace plumbline::live_bytes_test
