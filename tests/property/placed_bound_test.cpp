// No plan whose recompute is placed takes less, or ranks higher, than what it was bounded by before it was placed.

#include "planner/search/placed_bound.h"

#include "planner/search/candidates.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline {
namespace {

struct BoundedQuestion {
  std::string model;
  std::string machine;
  std::int64_t devices;
  std::int64_t sequence;
  std::int64_t batch;
  std::string fixes;
};

/// Every `stride`-th candidate is priced: many of them differ in ZeRO stage and shard group alone.
constexpr std::size_t stride = 7;

/// How many plans were held against their bounds.
std::size_t check_bounds(const BoundedQuestion& asked, FlashAttention flash_attention) {
  const Question question = question_of(asked.model, asked.machine, asked.devices, asked.sequence, asked.batch);
  SearchSpace space = space_from_text(asked.fixes + ",recompute=optimal");
  space.flash_attention = {flash_attention};
  const CandidateTable table(question, space, 1);
  CandidateBatch batch;
  for (std::size_t family = 0; family < table.family_count(); ++family) table.bound_family(family, batch);
  std::size_t checked = 0;
  const Bytes certain = question.certain_capacity();
  const auto score_of = [&](Picoseconds step, Bytes peak) {
    const MemoryFit fit = peak <= certain ? MemoryFit::certain : MemoryFit::uncertain;
    return score(Objective::step_time, fit, step, question.devices(), peak);
  };
  for (std::size_t c = 0; c < batch.fitting.size(); c += stride) {
    const Candidate& candidate = batch.fitting[c];
    const Candidate price = table.priced(candidate);
    if (price.outcome != Outcome::priced) continue;
    CAPTURE(to_text(table.strategy(candidate)), price.step_time.value(), price.peak_memory.value());
    CHECK(candidate.step_time <= price.step_time);
    for (const Tighter way : ways_for_front) {
      const PlanBound bound = table.tighter_bound(candidate, way);
      CAPTURE(static_cast<int>(way));
      CHECK(bound.step <= price.step_time);
      CHECK(bound.peak_memory <= price.peak_memory);
    }
    const PlanBound bound = table.tighter_bound(candidate, Tighter::surest_fit);
    CHECK(score_of(bound.step, bound.peak_memory) <= score_of(price.step_time, price.peak_memory));
    ++checked;
  }
  return checked;
}

TEST_CASE("search bounds no plan of placed recompute above its price") {
  const BoundedQuestion asked =
      GENERATE(BoundedQuestion{"llama-3-8b", "dgx-a100-40g", 8, 4096, 64, "pp=2|4,micro-batch=1|2"},
               BoundedQuestion{"llama-3-8b", "rtx4090-pcie", 8, 2048, 32, "cp=1,micro-batch=1|4"},
               BoundedQuestion{"gpt2-xl", "t4-pcie", 8, 1024, 24, "cp=1,micro-batch=1|3"},
               BoundedQuestion{"opt-13b", "dgx-a100-40g", 16, 2048, 64, "tp=2|4,cp=1,micro-batch=1|2"},
               BoundedQuestion{"t5-large", "dgx1-v100", 8, 512, 32, "cp=1,micro-batch=2|4"},
               BoundedQuestion{"mixtral-8x7b", "dgx-h100", 16, 4096, 32, "cp=1,tp=1|4,micro-batch=1"},
               BoundedQuestion{"llama-2-13b", "dgx-h100", 8, 8192, 16,
                               "schedule=zb-h1|zbv|v-half|dualpipev|gpipe,micro-batch=1"});
  CAPTURE(asked.model, asked.machine, asked.fixes);
  std::size_t checked = 0;
  for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) checked += check_bounds(asked, flash);
  CHECK(checked > 0);
}

}  // namespace
}  // namespace plumbline
