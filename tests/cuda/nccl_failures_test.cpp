// What ranks of NCCL say when a call fails, a rank is lost, or nobody comes: one of them in every case, within its
// deadline, and no thread hangs.
#include <chrono>

#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"
#include "tests/cuda/nccl_ranks.h"

namespace plumbline::nccl_failures_test {
namespace {

using std::chrono::milliseconds;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// An all-reduce and a message in a group of two; `at`: called before each.
void work(World& world, CudaDevice& device, const std::function<void(std::int32_t)>& before = {}) {
  const auto group = world.communicator({"pipeline", {0, 1}}, Messages::stages);
  const DeviceMemory memory = device.reserve(Bytes(64));
  device.fill(Stream::compute, memory.get(), std::byte{0}, Bytes(64));
  world.report_action(3);
  if (before) before(world.rank());
  device.enqueue(Stream::compute, [&] {
    group->all_reduce({memory.get(), 64}, ElementFormat::fp32, Reduction::sum);
    group->all_gather({memory.get(), 32}, {memory.get(), 64}, ElementFormat::fp32);
  });
  device.enqueue(Stream::compute, [&] {
    if (world.rank() == 0)
      group->send({memory.get(), 64}, 1, 0);
    else
      group->receive({memory.get(), 64}, 0, 0);
  });
  device.finish_all();
  group->barrier();
}

std::string failure_of(const NcclOptions& options, const std::function<void()>& prepare,
                       const std::function<void(std::int32_t)>& before = {}) {
  const NcclComputer computer;
  prepare();
  try {
    run_nccl_ranks(2, cpu_kernels(), options, [&](World& world, CudaDevice& device) { work(world, device, before); });
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

constexpr NcclOptions usual{milliseconds(3'000), milliseconds(5)};

TEST_CASE("Ranks of NCCL whose calls succeed say nothing") {
  CHECK(failure_of(usual, [] {}).empty());
}

TEST_CASE("Each call of NCCL that fails is named, with its rank and what NCCL says") {
  for (const char* const call :
       {"ncclGetUniqueId", "ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclAllReduce", "ncclAllGather",
        "ncclReduceScatter", "ncclReduce", "ncclBroadcast", "ncclSend", "ncclRecv"}) {
    const std::string text =
        failure_of(usual, [&] { fake_nccl::fail_call(call, 1, nccl::Result::unhandled_cuda_error); });
    INFO(call << ": " << text);
    CHECK(has(text, call));
    CHECK(has(text, "unhandled cuda error (result 1)"));
    CHECK(has(text, "rank "));
  }
}

/// The call that is the first of its name once all groups are made.
std::string failure_behind_start(const std::string& call) {
  const NcclComputer computer;
  try {
    run_nccl_ranks(3, cpu_kernels(), usual, [&](World& world, CudaDevice& device) {
      const auto group = world.everyone("all");
      const DeviceMemory memory = device.reserve(Bytes(24));
      const bool is_first = world.rank() == 0;
      group->barrier();
      if (is_first) fake_nccl::fail_call(call, 1, nccl::Result::internal_error);
      group->barrier();
      // Parts that differ: a group of broadcasts, a group of reduces.
      const std::vector<std::int64_t> counts{2, 1, 1};
      const std::size_t own = is_first ? 8 : 4;
      device.enqueue(Stream::compute, [&] {
        group->all_gather({memory.get(), own}, {memory.get(), 16}, counts, ElementFormat::fp32);
        group->reduce_scatter({memory.get(), 16}, {memory.get() + 16, own}, counts, ElementFormat::fp32,
                              Reduction::sum);
      });
      device.finish_all();
    });
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("Groups of calls that cannot be opened, filled or closed are named") {
  for (const std::string call : {"ncclGroupStart", "ncclGroupEnd", "ncclBroadcast", "ncclReduce"}) {
    const std::string text = failure_behind_start(call);
    INFO(text);
    // What a group's end says is of all its calls, and has their name.
    CHECK(has(text, (call == "ncclGroupEnd" ? "ncclBroadcast" : call) + ": internal error"));
  }
}

TEST_CASE("Communicators that cannot be ended are left, and the run has its results") {
  for (const std::string call : {"ncclCommFinalize", "ncclCommDestroy"}) {
    const NcclComputer computer;
    fake_nccl::fail_call(call, 1, nccl::Result::internal_error);
    run_nccl_ranks(2, cpu_kernels(), usual, [&](World& world, CudaDevice& device) { work(world, device); });
    CHECK(fake_nccl::calls_made(call) > 1);
    CHECK(fake_nccl::calls_made("ncclCommAbort") == (call == "ncclCommFinalize" ? 1 : 0));
  }
}

TEST_CASE("An abort that fails does not hide why ranks were ended") {
  const std::string text = failure_of(usual, [] {
    fake_nccl::fail_call("ncclAllGather", 1, nccl::Result::remote_error);
    fake_nccl::fail_call("ncclCommAbort", 1, nccl::Result::internal_error);
  });
  INFO(text);
  CHECK(has(text, "ncclAllGather: remote process exited"));
}

TEST_CASE("An asynchronous error ends all ranks") {
  const std::string text =
      failure_of(usual, [] { fake_nccl::break_call("ncclAllReduce", 1, nccl::Result::remote_error); });
  INFO(text);
  CHECK(has(text, "remote process exited or there was a network error"));
  CHECK(has(text, "group pipeline of 2 ranks"));
}

TEST_CASE("A rank that never comes is missed after the deadline, by call and action") {
  const std::string text = failure_of(
      {milliseconds(300), milliseconds(5)}, [] {},
      [](std::int32_t rank) {
        if (rank == 1) std::this_thread::sleep_for(milliseconds(1'500));
      });
  INFO(text);
  CHECK(has(text, "rank 0 waited 300 ms in all-reduce 0 of group pipeline, which action 3 of its program gave out"));
}

TEST_CASE("A rank that fails ends the others with its words") {
  const std::string text = failure_of(
      usual, [] {},
      [](std::int32_t rank) {
        if (rank == 1) throw EnvironmentError("the disk is full");
      });
  INFO(text);
  CHECK(has(text, "the disk is full"));
}

// Rank 0 is making its first communicator, which no watch knows yet: the other one's words end it, not its deadline.
TEST_CASE("A rank that fails before it joins a group ends those that are making it") {
  const auto begin = Clock::now();
  const NcclComputer computer;
  std::string text;
  try {
    run_nccl_ranks(2, cpu_kernels(), {milliseconds(60'000), milliseconds(5)}, [](World& world, CudaDevice& device) {
      if (world.rank() == 0) return work(world, device);
      std::this_thread::sleep_for(milliseconds(100));  // the other one waits inside of NCCL by then
      throw EnvironmentError("the disk is full");
    });
  } catch (const std::exception& error) {
    text = error.what();
  }
  INFO(text);
  CHECK(has(text, "the disk is full"));
  CHECK(Clock::now() - begin < milliseconds(20'000));
}

TEST_CASE("Communicators that are never complete are given up") {
  const std::string text = failure_of({milliseconds(200), milliseconds(5)}, [] { fake_nccl::never_complete_init(); });
  INFO(text);
  CHECK(has(text, "ncclCommInitRankConfig: is not done after 200 ms"));
}

TEST_CASE("Two ranks on one device are refused with NCCL's words") {
  const NcclComputer computer;
  cuda_on_cpu::set_device({.count = 1});
  std::string text;
  try {
    run_nccl_ranks(2, cpu_kernels(), usual, [](World& world, CudaDevice& device) { work(world, device); });
  } catch (const std::exception& error) {
    text = error.what();
  }
  INFO(text);
  CHECK(has(text, "Duplicate GPU detected"));
}

TEST_CASE("Calls that do not fit together are seen") {
  const NcclComputer computer;
  std::string text;
  try {
    run_nccl_ranks(2, cpu_kernels(), usual, [](World& world, CudaDevice& device) {
      const auto group = world.everyone("all");
      const DeviceMemory memory = device.reserve(Bytes(64));
      const std::size_t size = world.rank() == 0 ? 64 : 32;
      device.enqueue(Stream::compute, [&] {
        group->all_reduce({memory.get(), size}, ElementFormat::fp32, Reduction::sum);
      });
      device.finish_all();
    });
  } catch (const std::exception& error) {
    text = error.what();
  }
  INFO(text);
  CHECK(has(cuda_on_cpu::last_problem(), "do not fit together"));
  CHECK(has(text, "unspecified launch failure"));
}

}  // namespace
}  // namespace plumbline::nccl_failures_test
