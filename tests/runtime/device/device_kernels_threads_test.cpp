// A step runs the kernels of its device's table, and no others. Ranks are threads.
#include <atomic>
#include <bit>
#include <cstring>

#include "runtime/device/cpu_kernels.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

/// A CPU whose table a test has changed.
class OtherKernels : public CpuDevice {
 public:
  explicit OtherKernels(const DeviceKernels& table) : table_(table) {}
  [[nodiscard]] const DeviceKernels& kernels() const override { return table_; }

 private:
  const DeviceKernels& table_;
};

std::atomic<std::int64_t> norms = 0;
std::atomic<std::int64_t> steps = 0;

Executed run_with(const LoweredPlan& plan, const DeviceKernels& table) {
  RunOptions o = options(2);
  o.device.make = [&](std::int32_t) { return std::make_unique<OtherKernels>(table); };
  return execute(plan.job(), o);
}

// Function pointers are words, and the table holds nothing else but what takes several tensors at once, which the CPU
// has not.
TEST_CASE("the CPU's table has every kernel") {
  std::array<std::uintptr_t, sizeof(DeviceKernels) / sizeof(std::uintptr_t)> entries{};
  static_assert(sizeof entries == sizeof(DeviceKernels));
  std::memcpy(entries.data(), &cpu_kernels(), sizeof entries);
  CHECK(std::count(entries.begin(), entries.end(), std::uintptr_t{0}) == 1);
}

// 2 ranks, 2 steps of 4 micro-batches: 4 layers with 2 norms each and the last norm. One step of AdamW for each tensor
// that a rank holds.
TEST_CASE("a step runs the kernels that its device's table names, as often as its program says") {
  Strategy s = single();
  s.micro_batch = 1;
  s.data_parallel = 2;
  const LoweredPlan plan(network(Net::gpt), s, recipe(Optimizer::adamw));
  DeviceKernels counting = cpu_kernels();
  counting.layer_norm_forward = [](const LayerNormForward& args) {
    ++norms;
    reference::layer_norm_forward(args);
  };
  counting.adamw_step = [](const AdamwStep& args) {
    ++steps;
    reference::adamw_step(args);
  };
  norms = steps = 0;
  const Executed counted = run_with(plan, counting);
  constexpr std::int64_t rank_steps = 4;
  CHECK(norms == rank_steps * 4 * 9);
  CHECK(steps == rank_steps * std::ssize(counted.weights));
  CHECK(counted.weights == run_with(plan, cpu_kernels()).weights);
}

TEST_CASE("a kernel that a device replaces decides what is learned") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  DeviceKernels frozen = cpu_kernels();
  frozen.sgd_step = [](const SgdStep&) {};
  const Executed changed = run_with(plan, frozen);
  const Executed usual = run_with(plan, cpu_kernels());
  CHECK(changed.record.steps[0].loss == usual.record.steps[0].loss);
  CHECK(changed.record.steps[1].gradient_norm != usual.record.steps[1].gradient_norm);
  CHECK(changed.weights != usual.weights);
}

}  // namespace
}  // namespace plumbline
