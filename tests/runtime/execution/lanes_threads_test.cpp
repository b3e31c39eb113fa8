// Gathers and reductions alongside the blocks: the same bits and bytes as in order, whenever they run.
#include <algorithm>
#include <chrono>

#include "tests/execution_checks.h"
#include "tests/late_device.h"
#include "tests/left_out_needs.h"
#include "tests/probes.h"
#include "tests/thread_sanitizer.h"

namespace plumbline {
namespace {

struct Layout {
  std::int32_t data = 1;
  std::int32_t tensor = 1;
  std::int32_t pipeline = 1;
  std::int32_t zero = 0;
  std::int32_t shard_group = 0;  ///< 0: all data-parallel ranks
  Schedule schedule = Schedule::none;
  std::int32_t virtual_stages = 1;
  std::int32_t offloaded_layers = 0;
  std::int32_t micro_batches = 4;
  std::int32_t secondary = 1;  ///< secondary shard group
};

Strategy strategy_of(const Layout& l) {
  Strategy s;
  s.data_parallel = l.data;
  s.tensor_parallel = l.tensor;
  s.sequence_parallel = l.tensor > 1 ? SequenceParallel::on : SequenceParallel::off;
  s.pipeline_stages = l.pipeline;
  s.schedule = l.schedule;
  s.virtual_stages = l.virtual_stages;
  s.micro_batches = l.micro_batches;
  s.zero_stage = l.zero;
  if (l.offloaded_layers > 0) s.recompute = {RecomputeMode::offloaded, l.offloaded_layers};
  s.shard_group = l.zero == 0 ? 1 : l.shard_group > 0 ? l.shard_group : s.gradient_ranks();
  s.secondary_shard_group = l.secondary;
  return s;
}

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all{
      {2, 1, 1, 0},
      {3, 1, 1, 1},
      {2, 1, 1, 2},
      {3, 1, 1, 3},
      {4, 1, 1, 3, 2},
      {2, 2, 1, 1},
      {2, 2, 1, 3},
      {2, 1, 2, 1, 0, Schedule::one_f_one_b},
      {2, 1, 2, 3, 0, Schedule::one_f_one_b},
      {2, 1, 2, 2, 0, Schedule::interleaved, 2},
      {2, 1, 2, 2, 0, Schedule::zb_h1},
      {2, 1, 2, 1, 0, Schedule::zbv, 2},
      {3, 1, 1, 2, 0, Schedule::none, 1, 3},
      {2, 1, 2, 3, 0, Schedule::interleaved, 2, 2},
      // Of one micro-batch units are scattered before the action that names them, as buffers are needed again.
      {2, 1, 1, 2, 0, Schedule::none, 1, 0, 1},
      {3, 1, 1, 3, 0, Schedule::none, 1, 0, 1},
      {2, 2, 1, 2, 0, Schedule::none, 1, 2, 1},
      {2, 1, 2, 2, 0, Schedule::one_f_one_b, 1, 0, 1},
      {4, 1, 1, 3, 0, Schedule::none, 1, 0, 2, 2},
      {4, 1, 2, 3, 0, Schedule::one_f_one_b, 1, 0, 3, 2},
  };
  return all;
}

/// With a pipeline: embeddings that are tied over its ends, and dropout.
Graph network_of(const Layout& layout) {
  if (layout.pipeline > 1) return gpt({4, 16, 4, 20, 24, Dropout::yes});
  return llama({.layers = 4, .hidden = 16, .heads = 4, .kv_heads = 2, .head_dim = 4, .width = 36, .vocabulary = 20});
}

Training training_of(const Strategy& s) {
  Training training = recipe();
  training.sequence_length = 12;
  training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
  return training;
}

/// Every unit reduced when it is made, or in buckets of about a layer and a half, which go out alongside the next
/// layer, or all at once.
std::vector<Calibration> bucket_sizes() {
  std::vector<Calibration> all(3, runtime_calibration());
  all[1].stack.communication.bucket_bytes.value = 20'000;
  all[2].stack.communication.bucket_bytes.value = 1e9;
  return all;
}

RunOptions three_steps() {
  RunOptions o = options(3);
  o.data = random_tokens(20, 4000);
  return o;
}

RunOptions on_threads() {
  RunOptions o = three_steps();
  o.device.lanes = LaneThreads::one_per_lane;
  return o;
}

RunOptions as_late_as_possible() {
  RunOptions o = three_steps();
  o.device.make = [](std::int32_t) { return std::make_unique<LateDevice>(); };
  return o;
}

void require_same(const Executed& run, const Executed& expected) {
  REQUIRE(run.record.steps.size() == expected.record.steps.size());
  for (std::size_t i = 0; i < run.record.steps.size(); ++i) {
    CHECK(run.record.steps[i].loss == expected.record.steps[i].loss);
    CHECK(run.record.steps[i].gradient_norm == expected.record.steps[i].gradient_norm);
  }
  CHECK(run.gradients == expected.gradients);
  CHECK(run.weights == expected.weights);
  for (std::size_t r = 0; r < run.record.ranks.size(); ++r) {
    CHECK(run.record.ranks[r].sent == expected.record.ranks[r].sent);
    CHECK(run.record.ranks[r].memory.at_peak.by_class == expected.record.ranks[r].memory.at_peak.by_class);
  }
}

TEST_CASE("lanes with threads of their own, or as late as they may, train the same bits with the same bytes") {
  std::vector<Calibration> sizes = bucket_sizes();
  if (under_thread_sanitizer) sizes.pop_back();
  for (const Calibration& habits : sizes)
    for (const Layout& layout : layouts()) {
      const Strategy s = strategy_of(layout);
      INFO(to_text(s) << ", buckets of " << habits.stack.communication.bucket_bytes.value << " bytes");
      const LoweredPlan plan(network_of(layout), s, training_of(s), habits);
      const Executed in_order = execute(plan.job(), three_steps());
      require_same(execute(plan.job(), on_threads()), in_order);
      if (!under_thread_sanitizer) require_same(execute(plan.job(), as_late_as_possible()), in_order);
    }
}

// A block under ZeRO-3 waits for its parameters, which are gathered alongside the block before.
TEST_CASE("a wait that is left out of a program shows in the numbers of a late device") {
  const Strategy s = strategy_of({2, 1, 1, 3});
  const LoweredPlan plan(network_of({}), s, training_of(s));
  const Program broken = without_needs_of_gathers(plan.program);
  const TrainingJob whole = plan.job();
  const TrainingJob job{whole.graph, whole.strategy, whole.training, broken, {}, whole.learning_rate, {}, {}, "test"};
  const Executed expected = execute(whole, three_steps());
  bool is_seen = false;
  try {
    is_seen = execute(job, as_late_as_possible()).weights != expected.weights;
  } catch (const std::exception&) {
    is_seen = true;  // a loss that is no number ends the run
  }
  CHECK(is_seen);
}

// Gradients of a product's input are summed over two ranks alongside the gradients of its weights; the norm before it
// reads the sum.
TEST_CASE("a wait for a collective that is left out of a block shows in the numbers of a late device") {
  Strategy s = strategy_of({1, 2});
  s.sequence_parallel = SequenceParallel::off;
  const LoweredPlan plan(network_of({}), s, training_of(s));
  const Executed expected = execute(plan.job(), three_steps());
  require_same(execute(plan.job(), as_late_as_possible()), expected);
  require_same(execute(plan.job(), on_threads()), expected);
  const Program broken = without_waits_in_blocks(plan.program);
  const TrainingJob whole = plan.job();
  const TrainingJob job{whole.graph, whole.strategy, whole.training, broken, {}, whole.learning_rate, {}, {}, "test"};
  bool is_seen = false;
  try {
    is_seen = execute(job, as_late_as_possible()).weights != expected.weights;
  } catch (const std::exception&) {
    is_seen = true;  // a loss that is no number ends the run
  }
  CHECK(is_seen);
}

bool overlaps_backward(const ActionRecord& reduction, const RankRecord& rank) {
  return std::any_of(rank.actions.begin(), rank.actions.end(), [&](const ActionRecord& a) {
    return a.kind == ActionKind::backward && a.start_ns < reduction.end_ns && reduction.start_ns < a.end_ns;
  });
}

// On a rank's own thread a reduction and a backward never run at the same time. With threads they may: of 30 steps of
// many reductions each at least one does.
TEST_CASE("with threads gradients are reduced while the backward goes on, and the record shows it") {
  Strategy s = strategy_of({2, 1, 1, 0});
  s.micro_batches = 1;
  Training training = training_of(s);
  training.global_batch = 2;
  const LoweredPlan plan(gpt({8, 64, 4, 20, 24, Dropout::no}), s, training);
  const auto overlapped_reductions = [&](LaneThreads lanes) {
    std::int64_t found = 0;
    for (int run = 0; run < 30 && found == 0; ++run) {
      RunOptions o = three_steps();
      o.device.lanes = lanes;
      for (const RankRecord& rank : execute(plan.job(), o).record.ranks)
        for (const ActionRecord& a : rank.actions)
          if (a.kind == ActionKind::reduce_gradients && overlaps_backward(a, rank)) ++found;
    }
    return found;
  };
  CHECK(overlapped_reductions(LaneThreads::none) == 0);
  CHECK(overlapped_reductions(LaneThreads::one_per_lane) > 0);
}

TEST_CASE("a rank that fails while its lanes work ends the run at once") {
  const Strategy s = strategy_of({3, 1, 1, 3});
  const LoweredPlan plan(network_of({}), s, training_of(s));
  RunOptions o = on_threads();
  o.ranks.deadline = std::chrono::seconds(20);
  ActionProbe probe([](std::int32_t rank, std::int64_t step, std::int32_t action) {
    if (rank == 1 && step == 1 && action == 9) throw std::runtime_error("a disk broke");
  });
  o.tests.probe = &probe;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(execute(plan.job(), o), Catch::Matchers::ContainsSubstring("a disk broke"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

}  // namespace
}  // namespace plumbline
