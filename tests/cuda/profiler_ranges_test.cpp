// A profiler sees every step, and inside of it every action under its number in the program; else nothing is named.
#include <cstdlib>

#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/fake_nvtx.h"
#include "tests/cuda/late_kernels.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

/// A variable of the environment, while it lives.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) { ::setenv(name, "1", 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

RunRecord two_steps(const LoweredPlan& plan) {
  (void)cudaDeviceReset();
  RunOptions o = options(2);
  o.device.make = [](std::int32_t) { return std::make_unique<CudaDevice>(0, late_kernels()); };
  return train(plan.job(), o);
}

TEST_CASE("A profiler is shown steps, and actions by their numbers in the program") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  for (const char* const name : {"NVTX_INJECTION64_PATH", "PLUMBLINE_NVTX"}) {
    INFO(name);
    const Variable asked(name);
    (void)fake_nvtx::take();
    const RunRecord record = two_steps(plan);
    const std::vector<fake_nvtx::Range> ranges = fake_nvtx::take();
    const std::vector<ActionRecord>& actions = record.ranks.front().actions;
    std::size_t next = 0;
    for (const char* const step : {"step 0", "step 1"}) {
      REQUIRE(next + actions.size() < ranges.size());
      CHECK(ranges[next].name == step);
      CHECK(ranges[next++].depth == 0);
      for (const ActionRecord& action : actions) {
        CHECK(ranges[next].name == std::to_string(action.action) + ": " + action.name);
        CHECK(ranges[next++].depth == 1);
      }
    }
  }
}

TEST_CASE("Nothing is named where no profiler looks") {
  (void)fake_nvtx::take();
  (void)two_steps(LoweredPlan(network(Net::gpt), single(), recipe()));
  CHECK(fake_nvtx::take().empty());
}

}  // namespace
}  // namespace plumbline
