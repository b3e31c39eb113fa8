#include "runtime/device/cpu_device.h"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("without threads a lane's work has run when it was given") {
  CpuDevice device;
  int runs = 0;
  device.enqueue(Stream::data, [&] { ++runs; });
  CHECK(runs == 1);
  CHECK(device.mark(Stream::data).work == 0);
  device.finish_all();
  CHECK_THROWS_AS(device.enqueue(Stream::data, [] { throw std::runtime_error("broken"); }), std::runtime_error);
}

TEST_CASE("a lane with a thread runs its work in order, alongside the caller") {
  CpuDevice device(LaneThreads::one_per_lane);
  std::atomic<bool> may_go = false;
  std::vector<int> order;
  device.enqueue(Stream::data, [&] {
    while (!may_go) std::this_thread::yield();
    order.push_back(0);
  });
  for (int i = 1; i < 100; ++i) device.enqueue(Stream::data, [&, i] { order.push_back(i); });
  const Mark last = device.mark(Stream::data);
  CHECK(last.work == 100);
  may_go = true;  // nothing would end if the caller had run it
  device.finish(last);
  REQUIRE(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("a lane waits for a mark of another one") {
  CpuDevice device(LaneThreads::one_per_lane);
  std::atomic<bool> may_go = false;
  std::atomic<int> copied = 0;
  device.enqueue(Stream::data, [&] {
    while (!may_go) std::this_thread::yield();
    copied = 7;
  });
  int seen = 0;
  device.wait(Stream::copy, device.mark(Stream::data));
  device.enqueue(Stream::copy, [&] { seen = copied; });
  may_go = true;
  device.finish_all();
  CHECK(seen == 7);
}

TEST_CASE("what a lane throws reaches whoever waits for it, and ends the lane") {
  CpuDevice device(LaneThreads::one_per_lane);
  bool ran = false;
  const Mark before = device.mark(Stream::data);
  device.enqueue(Stream::data, [] { throw std::runtime_error("lost rank 3"); });
  device.enqueue(Stream::data, [&] { ran = true; });
  device.finish(before);
  CHECK_THROWS_WITH(device.finish_all(), "lost rank 3");
  CHECK_THROWS_WITH(device.finish_all(), "lost rank 3");
  device.wait(Stream::copy, device.mark(Stream::data));
  CHECK_THROWS_WITH(device.finish_all(), "lost rank 3");
  device.stop();
  CHECK(!ran);
}

TEST_CASE("a device that is stopped begins nothing more") {
  CpuDevice device(LaneThreads::one_per_lane);
  std::atomic<bool> has_begun = false;
  std::atomic<bool> may_go = false;
  std::atomic<int> later = 0;
  device.enqueue(Stream::data, [&] {
    has_begun = true;
    while (!may_go) std::this_thread::yield();
  });
  for (int i = 0; i < 10; ++i) device.enqueue(Stream::data, [&] { ++later; });
  while (!has_begun) std::this_thread::yield();
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    may_go = true;
  });
  device.stop();
  releasing.join();
  CHECK(later == 0);
}

TEST_CASE("a lane copies and fills in its order, and an upload reads the host's memory before it returns") {
  CpuDevice device(LaneThreads::one_per_lane);
  std::atomic<bool> may_go = false;
  device.enqueue(Stream::data, [&] {
    while (!may_go) std::this_thread::yield();
  });
  std::array<std::int32_t, 3> given{1, 2, 3};
  std::array<std::int32_t, 3> here{};
  std::array<std::int32_t, 4> there{};
  std::array<std::int32_t, 4> back{};
  constexpr Bytes three(12);
  constexpr Bytes four(16);
  device.fill(Stream::data, there.data(), std::byte{0xff}, four);
  device.upload(Stream::data, here.data(), given.data(), three);
  device.copy(Stream::data, there.data(), here.data(), three);
  device.download(Stream::data, back.data(), there.data(), four);
  given = {};
  CHECK(back[3] == 0);  // nothing has run
  may_go = true;
  device.finish(device.mark(Stream::data));
  CHECK(back == std::array<std::int32_t, 4>{1, 2, 3, -1});
}

TEST_CASE("timed marks tell how long a lane's work took, until they are forgotten") {
  for (const LaneThreads threads : {LaneThreads::none, LaneThreads::one_per_lane}) {
    CpuDevice device(threads);
    const Mark begin = device.timed_mark(Stream::compute);
    const Mark before = device.timed_mark(Stream::data);
    device.enqueue(Stream::data, [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    const Mark after = device.timed_mark(Stream::data);
    device.finish(after);
    CHECK(device.elapsed_ns(before, after) >= 5'000'000);
    CHECK(device.elapsed_ns(begin, after) >= device.elapsed_ns(before, after));
    CHECK_THROWS_AS((void)device.elapsed_ns(before, device.mark(Stream::data)), InternalError);
    device.forget_times();
    CHECK_THROWS_AS((void)device.elapsed_ns(before, after), InternalError);
  }
}

TEST_CASE("what a device reserves is aligned, and each time other memory") {
  CpuDevice device;
  const DeviceMemory one = device.reserve(Bytes(1));
  const DeviceMemory other = device.reserve(Bytes(1000));
  CHECK(reinterpret_cast<std::uintptr_t>(one.get()) % 256 == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(other.get()) % 256 == 0);
  CHECK(one != other);
  CHECK(device.reserve(Bytes(0)) != nullptr);
}

}  // namespace plumbline
