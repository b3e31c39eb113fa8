// Closed form against lowered program where backwards gather over a smaller group: bytes sent, bytes held, time.

#include <random>

#include "core/cost/stage_memory.h"
#include "core/program/buffer_check.h"
#include "core/program/program_walk.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::secondary_shards_property_test {
namespace {

std::vector<std::int32_t> divisors(std::int32_t n) {
  std::vector<std::int32_t> found;
  for (std::int32_t d = 1; d <= n; ++d)
    if (n % d == 0) found.push_back(d);
  return found;
}

/// Legal plans of ZeRO-3 with a secondary group.
class Plans {
 public:
  explicit Plans(const Question& question) : question_(question), bits_(20261130) {}

  Strategy next() {
    for (;;) {
      Strategy s;
      s.tensor_parallel = one_of<std::int32_t>({1, 1, 2});
      s.pipeline_stages = one_of<std::int32_t>({1, 1, 2, 4});
      if (s.pipeline_stages > 1) s.schedule = all_schedules[1 + bits_() % (all_schedules.size() - 1)];
      if (placement(s.schedule) == StagePlacement::v_shaped || s.schedule == Schedule::interleaved)
        s.virtual_stages = 2;
      const std::int64_t ranks = question_.devices() / (std::int64_t{s.tensor_parallel} * s.pipeline_stages);
      s.data_parallel = static_cast<std::int32_t>(ranks);
      if (!question_.facts().experts.empty()) s.expert_parallel = one_of<std::int32_t>({1, 2, 4});
      if (s.tensor_parallel > 1) s.sequence_parallel = SequenceParallel::on;
      s.zero_stage = 3;
      s.shard_group = one_of(divisors(s.data_parallel));
      s.secondary_shard_group = one_of(divisors(s.shard_group));
      s.micro_batch = one_of<std::int64_t>({1, 2});
      s.layers_per_unit = one_of<std::int32_t>({1, 1, 2, 3});
      s.prefetch = one_of<ParameterPrefetch>({ParameterPrefetch::on, ParameterPrefetch::on, ParameterPrefetch::off});
      s.recompute.mode = one_of<RecomputeMode>({RecomputeMode::none, RecomputeMode::full});
      if (s.secondary_shard_group == 1 || !s.set_batch(question_.training().global_batch)) continue;
      if (s.schedule == Schedule::v_half && s.pipeline_stages * s.micro_batches > 600) continue;
      if (!first_violation(s, question_.training(), question_.facts(), question_.limits())) return s;
    }
  }

 private:
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[bits_() % values.size()];
  }
  const Question& question_;
  std::mt19937_64 bits_;
};

Bytes gathered(const RankProgram& rank, Axis axis) {
  Bytes sum(0);
  for (const Action& action : rank.actions)
    if (const auto* gather = std::get_if<ParameterGather>(&action.what); gather != nullptr && gather->axis == axis)
      sum += gather->bytes;
  return sum;
}

void compare(const Question& question, const Strategy& s) {
  INFO(question.text().model << ' ' << to_text(s));
  const std::vector<BlockCost> blocks = block_costs(question, s);
  const StageLayout layout = layout_of(question, s);
  const StageTable ranks(question.graph(), layout, blocks);
  const StackCalibration& stack = question.calibration().stack;
  const Training& training = question.training();
  const PricedPlan plan{question.graph(), s, training, stack, question.step_pricer(), ranks, blocks};
  const SizedPlan sizes = plan.sizes();
  const SegmentTable segments(sizes, Granularity::chunk);
  const Program program = lower(lowering_input(sizes, segments));
  REQUIRE_FALSE(dry_run(program));
  REQUIRE(buffer_fault(program).value_or("").empty());
  const Simulation simulated =
      simulate(program, action_times(plan, segments, program), stack.memory.fragmentation_fraction);
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    INFO("rank " << rank);
    const MemoryBreakdown closed =
        stage_memory(ranks[r], rank_load(ranks, s, rank, kept_gradients(s, stack.features, training.formats())), s,
                     training.formats(), training.optimizer, stack);
    CHECK(simulated.memory[r].memory.by_class == closed.by_class);
    const SharingBytes sent = question.step_pricer().sharing_bytes(ranks[r].parameters, s);
    CHECK(gathered(program.ranks[r], Axis::shard) == s.micro_batches * sent.gather);
    if (ranks[r].regathered == 0)
      CHECK(gathered(program.ranks[r], Axis::secondary_shard) == s.micro_batches * sent.gather_backward);
    CHECK(sent.gather_backward < sent.gather);
  }
  const Picoseconds priced = plan.steps.price(ranks, s).total();
  CHECK(plan.steps.lower_bound(ranks, s) <= priced);
  if (s.pipeline_stages == 1)
    CHECK(to_seconds(simulated.step()).value() == Approx(to_seconds(priced).value()).epsilon(0.05));
}

// Data-parallel ranks by the dozen, in fives and in threes: groups of 2, 3, 4, 5, 6, 8, 10, 12, 15 and 20.
TEST_CASE("closed form and program agree where backwards gather over a secondary group") {
  struct Asked {
    const char* model;
    std::int64_t devices;
    std::int64_t batch;
  };
  for (const Asked& asked : {Asked{"llama-3.2-1b", 24, 240}, Asked{"gpt2-xl", 40, 480}, Asked{"llama-3.2-1b", 120, 480},
                             Asked{"mixtral-8x7b", 48, 480}}) {
    const Question question = question_of(asked.model, "dgx-h100", asked.devices, 1024, asked.batch);
    Plans plans(question);
    for (int n = 0; n < 25; ++n) compare(question, plans.next());
  }
}

}  // namespace
}  // namespace plumbline::secondary_shards_property_test
