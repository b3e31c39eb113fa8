// What a run says it took of its device, by part, against sizes that the test gave to contexts, kernels, libraries and
// communicators, and against what the device says is taken.
#include <chrono>

#include "runtime/cuda/cuda_kernel_table.h"
#include "runtime/cuda/matrix_products.h"
#include "tests/cuda/fake_cublaslt.h"
#include "tests/cuda/late_kernels.h"
#include "tests/cuda/nccl_ranks.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

constexpr std::size_t context_bytes = 301'000'000;
constexpr std::size_t kernel = 70'000;
constexpr std::size_t handle = 5'000'000;
constexpr std::size_t communicator = 11'000'000;

Bytes bytes(std::size_t n) { return Bytes(static_cast<std::int64_t>(n)); }

/// Contexts, kernels and handles take memory while it lives.
struct SizedDevice {
  explicit SizedDevice(std::size_t granularity = 1) {
    cuda_on_cpu::set_memory_taken({context_bytes, kernel, granularity});
    fake_cublaslt::set_handle_bytes(handle);
  }
  SizedDevice(const SizedDevice&) = delete;
  SizedDevice& operator=(const SizedDevice&) = delete;
  ~SizedDevice() {
    fake_cublaslt::set_handle_bytes(0);
    fake_cublaslt::set_tuning(ProductTuning::first);
    (void)cudaDeviceReset();
  }
};

Bytes taken_now() {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return bytes(total - free);
}

struct MeasuredRun {
  std::vector<RankRecord> ranks;
  Bytes taken{0};         ///< of rank 0's device, behind the last step
  int communicators = 0;  ///< of NCCL, that all ranks have made before they begin
};

struct DeviceWatch : RunObserver {
  void on_ready(std::int32_t, const DescribeRank&) override {
    communicators = fake_nccl::calls_made("ncclCommInitRankConfig");
  }
  void on_step(const StepRecord&) override { taken = taken_now(); }

  Bytes taken{0};
  std::atomic<int> communicators = 0;
};

MeasuredRun measured(const Strategy& strategy, RunOptions options) {
  Training training = recipe();
  training.global_batch = strategy.data_parallel * strategy.micro_batch * strategy.micro_batches;
  const LoweredPlan plan(gpt({1, 32, 4, 64, 32, Dropout::no}), strategy, training);
  MeasuredRun run;
  options.ranks.deadline = std::chrono::milliseconds(300'000);
  DeviceWatch watch;
  options.observer = &watch;
  run.ranks = execute(plan.job(), options).record.ranks;
  run.taken = watch.taken;
  run.communicators = watch.communicators;
  return run;
}

RunOptions on_cuda(const DeviceKernels& table) {
  RunOptions o = options(2);
  o.device.backend = ComputeBackend::cuda;
  o.device.make = [&table](std::int32_t) { return std::make_unique<CudaDevice>(0, table); };
  return o;
}

/// Of the rank with a device of its own.
const DeviceMemoryRecord& whole(const RankRecord& rank) {
  REQUIRE(rank.memory.device);
  const DeviceMemoryRecord& device = *rank.memory.device;
  CHECK(device.total() == device.device_peak);
  CHECK(device.ranks == 1);
  CHECK(device[DevicePart::context] == bytes(context_bytes));
  CHECK(device[DevicePart::arena] == rank.memory.arena);
  CHECK(device[DevicePart::arena] > Bytes(0));
  CHECK(device[DevicePart::other] > Bytes(0));
  return device;
}

TEST_CASE("Parts of a device's memory are what each took, and sum to what the device says is taken") {
  (void)cudaDeviceReset();
  const SizedDevice sized;
  const MeasuredRun run = measured(Strategy(), on_cuda(cuda_kernel_table()));
  REQUIRE(run.ranks.size() == 1);
  const DeviceMemoryRecord& device = whole(run.ranks.front());
  CHECK(device.device_peak == run.taken);
  CHECK(device[DevicePart::modules] > Bytes(0));
  CHECK(device[DevicePart::modules].value() % std::int64_t{kernel} == 0);
  CHECK(device[DevicePart::libraries] == bytes(handle) + MatrixProducts::workspace());
  CHECK(device[DevicePart::communication] == Bytes(0));
  CHECK(device.trials == Bytes(0));
}

TEST_CASE("What the device rounds up to is among the other parts") {
  (void)cudaDeviceReset();
  Bytes other[2];
  Bytes arena[2];
  for (const int i : {0, 1}) {
    const SizedDevice sized(i == 0 ? 1 : 4096);
    const MeasuredRun run = measured(Strategy(), on_cuda(cuda_kernel_table()));
    const DeviceMemoryRecord& device = whole(run.ranks.front());
    CHECK(device.device_peak == run.taken);
    other[i] = device[DevicePart::other];
    arena[i] = device[DevicePart::arena];
  }
  CHECK(arena[0] == arena[1]);
  CHECK(other[1] > other[0]);
}

TEST_CASE("Trials of products are no part, and are said as what they took beyond") {
  (void)cudaDeviceReset();
  const SizedDevice sized;
  fake_cublaslt::set_tuning(ProductTuning::timed);
  const MeasuredRun run = measured(Strategy(), on_cuda(cuda_kernel_table()));
  const DeviceMemoryRecord& device = whole(run.ranks.front());
  CHECK(device.device_peak == run.taken);
  // Scratch, and room for one product; kernels that are loaded later make up for some of it.
  CHECK(device.trials > Bytes(0));
  CHECK(device.trials <= MatrixProducts::workspace() + Bytes(1 << 20));
}

TEST_CASE("Ranks that share a device have the process's parts in common, and their own sum to the rest") {
  (void)cudaDeviceReset();
  const SizedDevice sized;
  Strategy strategy;
  strategy.data_parallel = 2;
  const MeasuredRun run = measured(strategy, on_cuda(late_kernels()));
  REQUIRE(run.ranks.size() == 2);
  Bytes sum(0);
  for (const RankRecord& rank : run.ranks) {
    REQUIRE(rank.memory.device);
    const DeviceMemoryRecord& device = *rank.memory.device;
    CHECK(device.ranks == 2);
    CHECK(device[DevicePart::context] == bytes(context_bytes));
    CHECK(device[DevicePart::communication] > Bytes(0));  // copies of messages
    sum += device.total() - device[DevicePart::context] - device[DevicePart::modules];
  }
  const DeviceMemoryRecord& first = *run.ranks.front().memory.device;
  CHECK(sum + first[DevicePart::context] + first[DevicePart::modules] == first.device_peak);
  CHECK(first.device_peak == run.taken);
}

TEST_CASE("NCCL's communicators, its scratch and messages' copies are one part") {
  const NcclComputer computer;
  const SizedDevice sized;
  fake_nccl::set_communicator_bytes(communicator);
  const auto rendezvous = std::make_shared<LocalRendezvous>();
  constexpr std::int64_t large = 8 << 20;
  RunOptions o = options(2);
  o.ranks.transport = Transport::nccl;
  o.device.backend = ComputeBackend::cuda;
  o.device.make = [](std::int32_t rank) { return std::make_unique<CudaDevice>(rank, late_kernels()); };
  o.ranks.groups = [&](std::int32_t rank) {
    return std::make_shared<NcclGroups>(rank, *rendezvous, NcclOptions{.connected_by = Bytes(large)});
  };
  Strategy strategy;
  strategy.data_parallel = 2;
  const MeasuredRun run = measured(strategy, o);
  REQUIRE(run.ranks.size() == 2);
  for (const RankRecord& rank : run.ranks) {
    const DeviceMemoryRecord& device = whole(rank);
    // Two ranks make as many communicators each; what collectives are tried with stays as scratch, in and out.
    CHECK(device[DevicePart::communication] ==
          Bytes(run.communicators / 2 * static_cast<std::int64_t>(communicator) + 2 * large));
    CHECK(device[DevicePart::modules] == Bytes(0));
  }
  CHECK(whole(run.ranks.front()).device_peak == run.taken);
}

TEST_CASE("A run on the CPU has no parts of a device") {
  (void)cudaDeviceReset();
  const MeasuredRun run = measured(Strategy(), options(1));
  CHECK(!run.ranks.front().memory.device);
}

}  // namespace
}  // namespace plumbline
