// Collectives inside of blocks are timed where they run, on the device: the host gives them away at once.
#include <chrono>
#include <thread>

#include "core/program/action_kinds.h"
#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/late_kernels.h"
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

constexpr std::chrono::milliseconds work_length{3};

/// What communicators give to the compute lane takes so long on the device.
class SlowMessages : public CudaDevice {
 public:
  SlowMessages() : CudaDevice(0, late_kernels()) {}
  void enqueue(Stream lane, std::function<void()> work) override {
    CudaDevice::enqueue(lane, [&] {
      work();
      (void)cuda_on_cpu::enqueue_work(current_stream(), [] { std::this_thread::sleep_for(work_length); });
    });
  }
};

// A block of two layers' kind has at least one all-reduce; each takes 3 ms or longer.
TEST_CASE("Collectives inside of blocks last as long as the device takes for them") {
  Strategy s = single();
  s.tensor_parallel = 2;
  s.micro_batches = 1;
  Training training = recipe();
  training.global_batch = s.micro_batch;
  const LoweredPlan plan(network(Net::gpt), s, training);
  (void)cudaDeviceReset();
  RunOptions o = options(1);
  o.device.make = [](std::int32_t) { return std::make_unique<SlowMessages>(); };
  const RunRecord record = train(plan.job(), o);
  int collectives = 0;
  for (const RankRecord& rank : record.ranks)
    for (std::size_t i = 0; i < rank.actions.size(); ++i) {
      const ActionRecord& action = rank.actions[i];
      if (action.kind != ActionKind::tensor_collective) continue;
      if (plan.program.ranks[0].actions[i].pass() == Pass::step) continue;
      ++collectives;
      INFO(action.name);
      CHECK(action.end_ns - action.start_ns >= std::chrono::nanoseconds(work_length).count());
    }
  CHECK(collectives > 4);
}

}  // namespace
}  // namespace plumbline
