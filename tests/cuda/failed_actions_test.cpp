// Work that fails on the device is found by a later call: what is named is the action that it belongs to.
#include <algorithm>
#include <utility>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/current_lane.h"
#include "tests/cuda/late_kernels.h"
#include "tests/execution_checks.h"
#include "tests/probes.h"

namespace plumbline {
namespace {

constexpr std::int32_t no_action = -1;
std::int32_t failing = no_action;  // the action whose first product fails while it runs
bool is_at_it = false;             // it is being given

/// Fails when the lane comes to it, long after it was given.
void fail_at_it() {
  if (!std::exchange(is_at_it, false)) return;
  (void)cuda_on_cpu::enqueue_work(current_stream(), [] { throw std::runtime_error("a test asked for it"); });
}

const DeviceKernels& failing_kernels() {
  static const DeviceKernels table = [] {
    DeviceKernels made = late_kernels();
    made.matmul.run = [](const Matmul& args) {
      fail_at_it();
      late_kernels().matmul.run(args);
    };
    made.linear_forward.run = [](const LinearForward& args) {
      fail_at_it();
      late_kernels().linear_forward.run(args);
    };
    made.adamw_step = [](const AdamwStep& args) {
      fail_at_it();
      late_kernels().adamw_step(args);
    };
    return made;
  }();
  return table;
}

std::string failure_at(const TrainingJob& job, std::int32_t action, unsigned seed) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  RunOptions o = options(2);
  o.device.make = [](std::int32_t) { return std::make_unique<CudaDevice>(0, failing_kernels()); };
  failing = action;
  is_at_it = false;
  ActionProbe probe([](std::int32_t, std::int64_t step, std::int32_t at) { is_at_it = step == 1 && at == failing; });
  o.tests.probe = &probe;
  std::string text;
  try {
    (void)train(job, o);
  } catch (const EnvironmentError& failed) {
    text = failed.what();
  }
  (void)cudaDeviceReset();
  return text;
}

// The host is a step ahead of the device, so that the last action of the program is at hand when the call throws.
TEST_CASE("An error of work that runs late names the action that gave it out, not the last one") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe(Optimizer::adamw));
  const TrainingJob job = plan.job();
  const std::vector<Action>& actions = plan.program.ranks.front().actions;
  int failed = 0;
  int exact = 0;
  for (std::int32_t i = 0; i < std::ssize(actions); ++i)
    for (const unsigned seed : {1U, 2U}) {
      const std::string text = failure_at(job, i, seed);
      if (text.empty()) continue;  // it has no such kernel
      ++failed;
      const std::string named = to_text(actions[static_cast<std::size_t>(i)]);
      INFO("action " << i << ", " << named << ": " << text);
      CHECK(text.find("unspecified launch failure") != std::string::npos);
      const std::string here = "rank 0 (stage 0) at ";
      REQUIRE(text.rfind(here, 0) == 0);
      if (text.find(", or behind it, up to ") == std::string::npos) {
        CHECK(text.rfind(here + named + ": ", 0) == 0);
        ++exact;
      } else {  // it was found before the step was given
        const auto is_said = [&](const Action& a) { return text.rfind(here + to_text(a) + ",", 0) == 0; };
        CHECK(std::any_of(actions.begin(), actions.begin() + i + 1, is_said));
      }
    }
  CHECK(failed > 20);
  CHECK(exact > failed / 2);
}

}  // namespace
}  // namespace plumbline
