// The host gives its device a whole step, the update included, and stands still once: when it reads the loss.
#include <atomic>

#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/late_kernels.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

std::atomic<std::int64_t> updates = 0;       // kernels of the optimizer that the device was given
std::vector<std::int64_t> updates_at_waits;  // of one rank
int waits_before = 0;                        // when the step at hand began
int waits_inside = 0;                        // of any step, until its last kernel of the optimizer was given

const DeviceKernels& counted_kernels() {
  static const DeviceKernels table = [] {
    DeviceKernels made = late_kernels();
    made.adamw_step = [](const AdamwStep& args) {
      ++updates;
      waits_inside = std::max(waits_inside, cuda_on_cpu::host_waits() - waits_before);
      late_kernels().adamw_step(args);
    };
    return made;
  }();
  return table;
}

class WatchedDevice : public CudaDevice {
 public:
  WatchedDevice() : CudaDevice(0, counted_kernels()) {}
  void finish_all() override {
    updates_at_waits.push_back(updates);
    CudaDevice::finish_all();
  }
};

struct Waited {
  int waits = 0;
  std::vector<std::int64_t> updates;  ///< given to the device before each of them
  RunRecord record;
};

/// Of one rank, from the first action of the first step to the end of the last one.
struct WaitCounts : RunObserver, ExecutionProbe {
  void on_action(std::int32_t, std::int64_t step, std::int32_t action) override {
    if (action == 0) waits_before = cuda_on_cpu::host_waits();
    if (step != 0 || action != 0) return;
    before = waits_before;
    updates_at_waits.clear();
    updates = 0;
  }
  void on_step(const StepRecord&) override {
    behind = cuda_on_cpu::host_waits();
    at_waits = updates_at_waits;
  }

  int before = 0;
  int behind = 0;
  std::vector<std::int64_t> at_waits;
};

Waited waits_of(const TrainingJob& job, std::int64_t steps, unsigned seed) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  RunOptions o = options(steps);
  o.device.backend = ComputeBackend::cuda;
  o.device.make = [](std::int32_t) { return std::make_unique<WatchedDevice>(); };
  waits_inside = 0;
  WaitCounts counts;
  o.observer = &counts;
  o.tests.probe = &counts;
  Waited waited;
  waited.record = train(job, o);
  waited.updates = counts.at_waits;
  waited.waits = counts.behind - counts.before;
  return waited;
}

// What follows on the last step waits too, as often however many steps there are.
TEST_CASE("A step on CUDA has one wait of the host, behind its update") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::fp16})
    for (const unsigned seed : {1U, 2U, 3U}) {
      INFO(to_text(precision) << ", order " << seed);
      Training training = recipe(Optimizer::adamw);
      training.precision = precision;
      const LoweredPlan plan(network(Net::gpt), single(), training);
      const Waited few = waits_of(plan.job(), 2, seed);
      const Waited more = waits_of(plan.job(), 5, seed);
      CHECK(more.waits - few.waits == 3);
      CHECK(waits_inside == 0);
      CHECK(more.updates.size() - few.updates.size() == 3);
      REQUIRE(more.updates.size() >= 5);
      const std::int64_t of_step = more.updates.front();
      CHECK(of_step > 0);
      for (std::size_t step = 0; step < 5; ++step)
        CHECK(more.updates[step] == static_cast<std::int64_t>(step + 1) * of_step);
    }
}

// 2^32 times the loss overflows fp16 at once; the scale is halved until a step is taken, and doubled after two.
TEST_CASE("Steps that overflow are left out by the device, as on the CPU") {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::fp16;
  const LoweredPlan plan(network(Net::gpt), single(), training);
  TrainingJob job = plan.job();
  job.loss_scale.initial = std::ldexp(1.0, 32);
  job.loss_scale.growth_interval = 2;
  const auto outcomes = [](const RunRecord& record) {
    std::vector<StepOutcome> all;
    for (const StepRecord& step : record.steps) all.push_back(step.outcome);
    return all;
  };
  const Executed on_host = execute(job, options(20));
  const std::vector<StepOutcome> expected = outcomes(on_host.record);
  CHECK(expected.front() == StepOutcome::skipped);
  CHECK(expected.back() == StepOutcome::taken);
  const Waited on_cuda = waits_of(job, 20, 4);
  CHECK(outcomes(on_cuda.record) == expected);
  for (std::size_t step = 0; step < 20; ++step)
    CHECK(on_cuda.record.steps[step].loss == on_host.record.steps[step].loss);
}

}  // namespace
}  // namespace plumbline
