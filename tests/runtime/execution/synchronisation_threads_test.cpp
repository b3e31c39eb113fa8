// A rank gives its device a whole step and waits for it once, when it asks for the loss and the norm. Where a router
// decides which rank a token goes to, the host asks how many rows do, too.
#include <atomic>

#include "tests/execution_checks.h"
#include "tests/thread_sanitizer.h"

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

/// Of `steps` steps and what follows on the last of them. `evaluate_every`: 0: never.
Counts counts_of(const TrainingJob& job, std::int64_t steps, LaneThreads lanes, std::int64_t evaluate_every = 0) {
  RunOptions o = options(steps);
  o.data.held_out = evaluate_every > 0 ? 1000 : 0;
  o.evaluation.every = evaluate_every;
  o.device.make = [lanes](std::int32_t) { return std::make_unique<CountingDevice>(lanes); };
  waits = downloads = 0;
  (void)train(job, o);
  return {waits, downloads};
}

std::vector<LaneThreads> ways_of_lanes() {
  std::vector<LaneThreads> ways{LaneThreads::one_per_lane};
  if (!under_thread_sanitizer) ways.push_back(LaneThreads::none);
  return ways;
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
    for (const LaneThreads lanes : ways_of_lanes()) {
      INFO(to_text(s));
      const LoweredPlan plan(network(Net::gpt), s, recipe(Optimizer::adamw));
      const Counts few = counts_of(plan.job(), 2, lanes);
      const Counts more = counts_of(plan.job(), 5, lanes);
      CHECK(more.waits - few.waits == 6);
      CHECK(more.downloads - few.downloads == 6);
    }
}

/// Waits, and as many reads, of one step on all ranks.
std::int64_t waits_of_step(const LoweredPlan& plan, ExpertRouting routing) {
  const Counts few = counts_of(routed(plan, routing), 1, LaneThreads::none);
  const Counts more = counts_of(routed(plan, routing), 2, LaneThreads::none);
  CHECK(more.waits - few.waits == more.downloads - few.downloads);
  return more.waits - few.waits;
}

Strategy with_experts(std::int32_t tensor, std::int32_t expert, std::int32_t expert_tensor) {
  Strategy s = single();
  s.tensor_parallel = tensor;
  s.expert_parallel = expert;
  s.expert_tensor_parallel = expert_tensor;
  if (tensor > 1) s.sequence_parallel = SequenceParallel::on;
  s.data_parallel = 4 / tensor;
  s.micro_batches = 8 / s.data_parallel / s.micro_batch;
  return s;
}

// Four ranks, three layers with experts behind a dense one.
TEST_CASE("rows that are dealt out in turn let the host wait for nothing more") {
  for (const Strategy& s : {with_experts(1, 1, 1), with_experts(1, 4, 1), with_experts(2, 2, 2)}) {
    INFO(to_text(s));
    CHECK(waits_of_step(LoweredPlan(network(Net::moe), s, recipe_of(Net::moe)), ExpertRouting::balanced) == 4);
  }
}

// One more for each layer with experts and micro-batch, in the forward; none in a replay, nor where no rank exchanges.
TEST_CASE("a learned choice lets the host wait once for each forward of experts that ranks share") {
  const auto waited = [](const Strategy& s) {
    return waits_of_step(LoweredPlan(network(Net::moe), s, recipe_of(Net::moe)), ExpertRouting::learned);
  };
  CHECK(waited(with_experts(1, 1, 1)) == 4);
  for (Strategy s : {with_experts(1, 4, 1), with_experts(2, 2, 2), with_experts(4, 1, 2)}) {
    INFO(to_text(s));
    CHECK(waited(s) == 4 * (1 + 3 * s.micro_batches));
    s.recompute.mode = RecomputeMode::full;
    CHECK(waited(s) == 4 * (1 + 3 * s.micro_batches));
  }
}

// Behind each of 4 steps, or every other: two evaluations more on each of two ranks. Each has 16 sequences, as many as
// two steps, in passes over as many as the program has.
TEST_CASE("a pass of an evaluation has one wait of the host for the device, and one read") {
  for (const Strategy& s : strategies())
    for (const LaneThreads lanes : ways_of_lanes()) {
      INFO(to_text(s));
      const LoweredPlan plan(network(Net::gpt), s, recipe(Optimizer::adamw));
      const Counts few = counts_of(plan.job(), 4, lanes, 2);
      const Counts more = counts_of(plan.job(), 4, lanes, 1);
      const std::int64_t passes = divided(16, s.data_parallel * s.micro_batch * s.micro_batches);
      CHECK(more.waits - few.waits == 4 * passes);
      CHECK(more.downloads - few.downloads == 4 * passes);
    }
}

}  // namespace
}  // namespace plumbline
