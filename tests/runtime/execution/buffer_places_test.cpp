// Places of a plan by hand: what lies where, and what is refused.
#include "runtime/execution/buffer_places.h"

#include <cmath>
#include <cstring>

#include "runtime/device/cpu_device.h"
#include "runtime/execution/backend.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

constexpr Bytes kib(1024);
constexpr MemoryClass working = MemoryClass::working_buffers;

BufferLife life(std::int32_t buffer, std::int32_t first, std::int32_t last, std::int64_t offset) {
  return {buffer, first, last, kib, Bytes(offset)};
}

/// Two actions: the first binds two buffers, the second one more, once the first of them is given back.
StepPlan two_actions() {
  StepPlan plan;
  plan.lives = {life(0, 0, 1, 0), life(1, 1, 3, 1024), life(2, 2, 3, 0)};
  plan.actions = {{0, 2}, {2, 1}};
  plan.size = Bytes(2048);
  return plan;
}

TEST_CASE("a step's buffers lie where the plan puts them, and nothing is reserved for them") {
  CpuDevice device;
  Backend backend(device);
  const StepPlan plan = two_actions();
  backend.prepare(plan);
  CHECK(backend.arena_bytes() == Bytes(2048));
  const std::int64_t reservations = backend.reservations();
  const std::byte* arena = nullptr;
  for (int step = 0; step < 2; ++step) {
    backend.begin_step(plan);
    backend.begin_action(0);
    BufferRef first = backend.bind(working, kib);
    if (step == 0) arena = first->data();
    const BufferRef second = backend.bind(MemoryClass::activations, kib);
    CHECK(first->data() == arena);
    CHECK(second->data() == arena + 1024);
    first = nullptr;
    backend.begin_action(1);
    CHECK(backend.bind(working, kib)->data() == arena);
    CHECK(backend.live().live().device_total() == kib);
    CHECK_THROWS_AS(backend.end_step(), InternalError);  // the second is still bound
  }
  backend.end_step();
  CHECK(backend.reservations() == reservations);
}

TEST_CASE("a recorded walk makes the plan that the same walk finds right") {
  CpuDevice device;
  Backend backend(device);
  LifeRecorder recorder(device);
  const auto walk = [&] {
    backend.begin_action(0);
    const BufferRef all_along = backend.bind(working, kib);
    for (const std::int32_t action : {2, 1}) {  // in the order of issue
      backend.begin_action(action);
      const BufferRef short_lived = backend.bind(working, Bytes(512));
    }
  };
  backend.record(recorder);
  walk();
  const StepPlan plan = recorder.plan(3);
  CHECK(plan.size == Bytes(1536));
  CHECK(plan.live_peak == Bytes(1536));
  CHECK_FALSE(plan.depends_on_routing);
  backend.begin_step(plan);
  walk();
  backend.end_step();
}

TEST_CASE("a plan that gives bytes to two buffers at once is refused") {
  CpuDevice device;
  Backend backend(device);
  StepPlan plan = two_actions();
  plan.lives[1].offset = Bytes(512);
  backend.begin_step(plan);
  backend.begin_action(0);
  const BufferRef first = backend.bind(working, kib);
  CHECK_THROWS_WITH((void)backend.bind(working, kib),
                    "memory plan of a step: action 0 is given bytes that another buffer holds");
}

TEST_CASE("what a plan does not have is refused") {
  CpuDevice device;
  Backend backend(device);
  const StepPlan plan = two_actions();
  backend.begin_step(plan);
  CHECK_THROWS_WITH((void)backend.bind(working, kib),
                    "memory plan of a step: action -1 binds a buffer, and nothing is planned");
  backend.begin_action(1);
  CHECK_THROWS_WITH((void)backend.bind(working, Bytes(2000)),
                    "memory plan of a step: action 1 binds 2000 bytes where 1024 are planned");
  const BufferRef only = backend.bind(working, kib);
  CHECK_THROWS_AS((void)backend.bind(working, kib), InternalError);
}

TEST_CASE("rows that the routing sends beyond their share lie outside of the arena, in memory that is kept") {
  CpuDevice device;
  Backend backend(device);
  StepPlan plan = two_actions();
  plan.depends_on_routing = true;
  std::int64_t reservations = 0;
  for (int step = 0; step < 3; ++step) {
    backend.begin_step(plan);
    backend.begin_action(0);
    const BufferRef larger = backend.bind(working, Bytes(4096), SizeFrom::routing);
    std::memset(larger->data(), 0, 4096);
    backend.begin_action(1);
    (void)backend.bind(working, Bytes(100), SizeFrom::routing);  // fewer than planned
    if (step == 0) reservations = backend.reservations();
  }
  CHECK(backend.reservations() == reservations);
  CHECK(backend.arena_bytes() == Bytes(2048 + 4096));
}

TEST_CASE("poisoned places hold NaN each time they are handed out") {
  CpuDevice device;
  Backend backend(device, Poison::yes);
  const StepPlan plan = two_actions();
  backend.begin_step(plan);
  backend.begin_action(0);
  float number = 0;
  {
    const BufferRef first = backend.bind(working, kib);
    std::memset(first->data(), 0, 1024);
  }
  backend.begin_action(1);
  const BufferRef reused = backend.bind(working, kib);
  std::memcpy(&number, reused->data(), sizeof number);
  CHECK(std::isnan(number));
}

}  // namespace
}  // namespace plumbline
