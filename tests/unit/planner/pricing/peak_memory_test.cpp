#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
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

TEST_CASE("memory worked out once for a family is that of each of its ZeRO stages and shard groups") {
  const Question question = mixture_on_64_h100();
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 2;
  partial.strategy.expert_parallel = 8;
  const Strategy family = completed(partial, question);
  const StageLayout layout = layout_of(question, family);
  const StageTable stages(question.graph(), layout, block_costs(question, family));
  const PeakMemory memory(question, stages, family);
  std::vector<Bytes> peaks;
  for (const std::int32_t zero_stage : {0, 1, 2, 3})
    for (const std::int32_t shard_group : {8, 32}) {
      Strategy s = family;
      s.zero_stage = zero_stage;
      s.shard_group = shard_group;
      peaks.push_back(memory.of(s));
      CHECK(peaks.back() == peak_memory(question, stages, s));
    }
  // Without ZeRO there is no shard group; with it a larger one holds less.
  CHECK(peaks[0] == peaks[1]);
  for (std::size_t i = 2; i < peaks.size(); i += 2) CHECK(peaks[i] > peaks[i + 1]);
}

}  // namespace plumbline
