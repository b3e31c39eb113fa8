// A rank gives its device a whole step and waits for it once, when it asks for the loss and the norm.
#include <atomic>

#include "tests/execution_checks.h"

namespace plumbline {
namespace {

std::atomic<std::int64_t> waits = 0;
std::atomic<std::int64_t> downloads = 0;

/// Counts how often the host waits for it, and what the host reads.
class CountingDevice : public CpuDevice {
 public:
  using CpuDevice::CpuDevice;
  void finish(Mark mark) override {
    ++waits;
    CpuDevice::finish(mark);
  }
  void finish_all() override {
    ++waits;
    CpuDevice::finish_all();
  }
  void download(Stream lane, void* to, const void* from, Bytes bytes) override {
    ++downloads;
    CpuDevice::download(lane, to, from, bytes);
  }
};

struct Counts {
  std::int64_t waits = 0;
  std::int64_t downloads = 0;
};

/// Of `steps` steps and what follows on the last of them.
Counts counts_of(const LoweredPlan& plan, std::int64_t steps, LaneThreads lanes) {
  RunOptions o = options(steps);
  o.device = [lanes] { return std::make_unique<CountingDevice>(lanes); };
  waits = downloads = 0;
  (void)train(plan.job(), o);
  return {waits, downloads};
}

std::vector<Strategy> strategies() {
  std::vector<Strategy> all(6, single());
  for (Strategy& s : all) s.micro_batch = 1;
  for (std::size_t zero = 0; zero < 4; ++zero) {
    all[zero].data_parallel = 2;
    all[zero].zero_stage = static_cast<std::int32_t>(zero);
    all[zero].shard_group = zero == 0 ? 1 : 2;
  }
  all[4].tensor_parallel = 2;
  all[4].sequence_parallel = SequenceParallel::on;
  all[5].pipeline_stages = 2;
  all[5].schedule = Schedule::one_f_one_b;
  return all;
}

// Two ranks: 3 steps more are 6 more waits, whatever else a run does once.
TEST_CASE("a step has one wait of the host for the device, and one read") {
  for (const Strategy& s : strategies())
    for (const LaneThreads lanes : {LaneThreads::none, LaneThreads::one_per_lane}) {
      INFO(to_text(s));
      const LoweredPlan plan(network(Net::gpt), s, recipe(Optimizer::adamw));
      const Counts few = counts_of(plan, 2, lanes);
      const Counts more = counts_of(plan, 5, lanes);
      CHECK(more.waits - few.waits == 3 * 2);
      CHECK(more.downloads - few.downloads == 3 * 2);
    }
}

}  // namespace
}  // namespace plumbline
