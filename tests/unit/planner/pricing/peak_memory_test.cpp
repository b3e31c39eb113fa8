#include "planner/pricing/peak_memory.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Question mixture_on_64_h100() {
  QuestionText text;
  text.model = "mixtral-8x7b";
  text.machine = "dgx-h100";
  text.devices = 64;
  text.training.sequence_length = 4096;
  text.training.global_batch = 256;
  return Question(text);
}

}  // namespace

TEST_CASE("states worked out once for a family hold for each of its ZeRO stages, shard groups and recomputes") {
  const Question question = mixture_on_64_h100();
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 2;
  partial.strategy.expert_parallel = 8;
  const Strategy family = completed(partial, question);
  std::vector<Strategy> sharing;
  for (const std::int32_t zero_stage : {0, 1, 2, 3})
    for (const std::int32_t shard_group : {8, 32}) {
      Strategy& s = sharing.emplace_back(family);
      s.zero_stage = zero_stage;
      s.shard_group = shard_group;
    }
  StatesOfPlans states(question, sharing);
  for (const Recompute recompute :
       {Recompute{}, Recompute{RecomputeMode::full}, Recompute{RecomputeMode::every_nth, 3}}) {
    Strategy s = family;
    s.recompute = recompute;
    const StageLayout layout = layout_of(question, s);
    const StageTable stages(question.graph(), layout, block_costs(question, s));
    const std::vector<Bytes> peaks = PeakMemory(question, stages, s).of(states);
    for (std::size_t i = 0; i < sharing.size(); ++i) {
      Strategy plan = sharing[i];
      plan.recompute = recompute;
      CAPTURE(to_text(plan));
      CHECK(peaks[i] == evaluate(question, plan).prediction.peak_memory);
    }
    // Without ZeRO there is no shard group; with it a larger one holds less.
    CHECK(peaks[0] == peaks[1]);
    for (std::size_t i = 2; i < peaks.size(); i += 2) CHECK(peaks[i] > peaks[i + 1]);
  }
}

// A copy is of what one layer keeps. A program of single blocks makes every copy at its time; its chunks are counted
// with two at all times, a chunk's own among them.
TEST_CASE("interleaved stages that offload layers are counted with two copies at most that are not there") {
  QuestionText text;
  text.model = "gpt3-125m";
  text.machine = "dgx-a100-80g";
  text.training.sequence_length = 2048;
  for (const std::int32_t stages : {2, 3, 5, 6})
    for (const std::int32_t layers : {2, 5, 11}) {
      text.devices = stages;
      text.training.global_batch = 2 * stages;
      const Question question(text);
      Strategy s;
      s.pipeline_stages = stages;
      s.virtual_stages = 2;
      s.schedule = Schedule::interleaved;
      s.micro_batches = text.training.global_batch;
      s.recompute = {RecomputeMode::offloaded, layers};
      CAPTURE(to_text(s));
      Bytes copy(0);
      for (const BlockCost& block : block_costs(question, s))
        copy = std::max(copy, block.variant(Variant::offloaded).memory.in_transit);
      REQUIRE(copy > Bytes(0));
      const Simulation blocks = simulated(question, s, {Granularity::block, {}, {}}).simulation;
      const Prediction counted = evaluate(question, s).prediction;
      const double lost = 1 + question.calibration().stack.memory.fragmentation_fraction;
      for (std::size_t rank = 0; rank < counted.stage_memory.size(); ++rank) {
        const Bytes more = counted.stage_memory[rank].device_total() - blocks.memory[rank].memory.device_total();
        CHECK(more >= Bytes(0));
        CHECK(static_cast<double>(more.value()) <= 2 * lost * static_cast<double>(copy.value()) + 1);
      }
    }
}

}  // namespace plumbline
