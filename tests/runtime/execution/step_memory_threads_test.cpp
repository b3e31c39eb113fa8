// A step reserves nothing of its device, from the first one on, whatever the layout; what it binds lies in one arena
// that is little larger than what lives at once. Ranks are threads.
#include "runtime/execution/step_memory.h"

#include <atomic>

#include "tests/execution_checks.h"
#include "tests/late_device.h"
#include "tests/thread_sanitizer.h"

namespace plumbline::step_memory_threads_test {
namespace {

// A rank asks its device for memory on its own thread, on which the run says what it does.
thread_local std::int64_t reservations = 0;
thread_local std::int64_t at_begin = 0;
thread_local std::int32_t last_action = 0;

template <class Device>
class Counting : public Device {
 public:
  using Device::Device;
  [[nodiscard]] DeviceMemory reserve(Bytes bytes) override {
    ++reservations;
    return Device::reserve(bytes);
  }
};

struct Layout {
  std::string name;
  Net net = Net::gpt;
  Strategy strategy;
  Optimizer optimizer = Optimizer::adamw;
};

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  const auto add = [&](const char* name, auto change) {
    Layout layout{name, Net::gpt, single()};
    layout.strategy.micro_batch = 1;
    change(layout);
    all.push_back(layout);
  };
  for (std::int32_t zero = 0; zero < 4; ++zero)
    add("ZeRO", [&](Layout& l) {
      l.strategy.data_parallel = 3;  // which divides no width of the network
      l.strategy.zero_stage = zero;
      l.strategy.shard_group = zero == 0 ? 1 : 3;
    });
  add("tensor parallelism", [](Layout& l) {
    l.strategy.tensor_parallel = 2;
    l.strategy.sequence_parallel = SequenceParallel::on;
  });
  add("a pipeline with recompute", [](Layout& l) {
    l.strategy.pipeline_stages = 2;
    l.strategy.schedule = Schedule::one_f_one_b;
    l.strategy.recompute.mode = RecomputeMode::full;
  });
  add("interleaved stages under ZeRO-2", [](Layout& l) {
    l.strategy.pipeline_stages = 2;
    l.strategy.virtual_stages = 2;
    l.strategy.schedule = Schedule::interleaved;
    l.strategy.data_parallel = 2;
    l.strategy.zero_stage = 2;
    l.strategy.shard_group = 2;
  });
  add("zero bubbles", [](Layout& l) {
    l.strategy.pipeline_stages = 2;
    l.strategy.schedule = Schedule::zb_h1;
  });
  add("a ring", [](Layout& l) { l.strategy.context_parallel = 2; });
  add("experts on one rank", [](Layout& l) { l.net = Net::moe; });
  add("Muon under ZeRO-1", [](Layout& l) {
    l.strategy.data_parallel = 2;
    l.strategy.zero_stage = 1;
    l.strategy.shard_group = 2;
    l.optimizer = Optimizer::muon;
  });
  add("Adafactor under ZeRO-2", [](Layout& l) {
    l.strategy.data_parallel = 2;
    l.strategy.zero_stage = 2;
    l.strategy.shard_group = 2;
    l.optimizer = Optimizer::adafactor;
  });
  return all;
}

struct ReservationProbe : ExecutionProbe {
  void on_action(std::int32_t, std::int64_t, std::int32_t action) override {
    if (action <= last_action) at_begin = reservations;
    last_action = action;
    in_steps += reservations - at_begin;
    ++looks;
  }
  void on_updated(std::int32_t, std::int64_t, const ParameterStore&) override { in_steps += reservations - at_begin; }

  std::atomic<std::int64_t> in_steps = 0;
  std::atomic<std::int64_t> looks = 0;
};

struct Counted {
  RunRecord record;
  std::int64_t in_steps = 0;  ///< reservations of all ranks between the first action of a step and its end
  std::int64_t looks = 0;     ///< how often that was asked
};

/// Of three steps, and evaluations behind the second and the last.
template <class Device, class... Settings>
Counted run_counted(const LoweredPlan& plan, Settings... settings) {
  RunOptions o = options(3);
  o.evaluation.every = 2;
  o.data.held_out = 1000;
  o.device.make = [=](std::int32_t) { return std::make_unique<Counting<Device>>(settings...); };
  ReservationProbe probe;
  o.tests.probe = &probe;
  RunRecord record = train(plan.job(), o);
  return {std::move(record), probe.in_steps, probe.looks};
}

TEST_CASE("no step and no evaluation reserves memory, from the first on, and the bytes are those predicted") {
  double worst = 1;
  for (const Layout& layout : layouts()) {
    INFO(layout.name << ": " << to_text(layout.strategy));
    Training training = recipe_of(layout.net);
    training.optimizer = layout.optimizer;
    const LoweredPlan plan(network(layout.net), layout.strategy, training);
    const Counted in_order = run_counted<CpuDevice>(plan, LaneThreads::none);
    CHECK(in_order.in_steps == 0);
    CHECK(in_order.looks > 0);
    require_bytes(plan, in_order.record);
    for (const RankRecord& rank : in_order.record.ranks) {
      // Classes need not be largest together, so an arena of all may be smaller.
      const double ratio = rank.memory.arena / rank.memory.at_peak.device_total();
      CHECK(ratio > 0.5);
      CHECK(ratio < 1.25);
      worst = std::max(worst, ratio);
    }
    // Lanes that work late, and on threads, find in their bytes what they would find in order.
    std::vector<Counted> others{run_counted<CpuDevice>(plan, LaneThreads::one_per_lane)};
    if (!under_thread_sanitizer) others.push_back(run_counted<LateDevice>(plan));
    for (const Counted& other : others) {
      CHECK(other.in_steps == 0);
      for (std::size_t i = 0; i < in_order.record.steps.size(); ++i) {
        CHECK(other.record.steps[i].loss == in_order.record.steps[i].loss);
        CHECK(other.record.steps[i].gradient_norm == in_order.record.steps[i].gradient_norm);
        CHECK(other.record.steps[i].held_out_loss == in_order.record.steps[i].held_out_loss);
      }
    }
  }
  WARN("arenas are at most " << worst << " times the peak of live bytes");
}

}  // namespace
}  // namespace plumbline::step_memory_threads_test
