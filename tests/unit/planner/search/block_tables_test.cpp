// Block tables are priced once for all searches of a question, and a search that knows what to beat finds the same.
#include "planner/search/block_tables.h"

#include "planner/search/search.h"
#include "tests/catch.h"
#include "tests/search_audit.h"

namespace plumbline {
namespace {

Question gpt2_on_8() {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-a100-80g";
  text.devices = 8;
  text.training.global_batch = 32;
  return Question(text);
}

TEST_CASE("strategies that differ in schedule and ZeRO alone have one table, which is priced once") {
  const Question question = gpt2_on_8();
  Strategy one;
  one.tensor_parallel = 2;
  Strategy other = one;
  other.schedule = Schedule::zb_h1;
  other.pipeline_stages = 4;
  other.zero_stage = 1;
  BlockTables tables;
  const auto first = tables.of(question, {one}, 1, {});
  const auto second = tables.of(question, {other}, 1, {});
  REQUIRE(first.size() == 1);
  CHECK(first.front() == second.front());
  other.micro_batch = 2;
  CHECK(tables.of(question, {other}, 1, {}).front() != first.front());
}

TEST_CASE("exchanges alongside another pass have tables of their own") {
  QuestionText text;
  text.model = "nano-moe";
  text.machine = "dgx-a100-80g";
  text.devices = 8;
  text.training.global_batch = 32;
  const Question question(text);
  Strategy one;
  one.pipeline_stages = 2;
  one.data_parallel = one.expert_parallel = 4;
  one.schedule = Schedule::one_f_one_b;
  Strategy paired = one;
  paired.schedule = Schedule::dualpipev;
  BlockTables tables;
  CHECK(tables.of(question, {one}, 1, {}).front() != tables.of(question, {paired}, 1, {}).front());
}

// What does not depend on expert parallelism is taken from the first table: a search must see no difference.
TEST_CASE("tables of other expert parallelism are those that are priced by themselves") {
  QuestionText text;
  text.model = "deepseek-v2-lite";
  text.machine = "dgx-h100";
  text.devices = 8;
  text.training.global_batch = 32;
  const Question question(text);
  std::vector<Strategy> samples(3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].data_parallel = 8;
    samples[i].expert_parallel = std::int32_t{1} << i;
  }
  BlockTables tables;
  const auto together = tables.of(question, samples, 1, {});
  REQUIRE(together.size() == samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const BlockTable alone = bare_block_costs(question, samples[i]);
    REQUIRE(together[i]->size() == alone.size());
    for (std::size_t b = 0; b < alone.size(); ++b) {
      const BlockCost& shared = (*together[i])[b];
      CHECK(shared.forward == alone[b].forward);
      CHECK(shared.backward == alone[b].backward);
      CHECK(shared.parameters.total() == alone[b].parameters.total());
      REQUIRE(shared.variants.size() == alone[b].variants.size());
      for (std::size_t v = 0; v < alone[b].variants.size(); ++v) {
        CHECK(shared.variants[v].memory.saved == alone[b].variants[v].memory.saved);
        CHECK(shared.variants[v].memory.working.backward == alone[b].variants[v].memory.working.backward);
        CHECK(shared.variant_times[v].recompute == alone[b].variant_times[v].recompute);
      }
    }
  }
}

// A question caches nothing: what its blocks are lowered to belongs to the tables, and pricing with it changes nothing.
TEST_CASE("a plan costs as much with the programs that tables know as alone") {
  const Question question = gpt2_on_8();
  Strategy kept;
  kept.data_parallel = 4;
  kept.tensor_parallel = 2;
  Strategy placed = kept;
  placed.micro_batch = 4;
  placed.recompute.mode = RecomputeMode::placed;
  BlockTables tables;
  REQUIRE(tables.of(question, {kept}, 1, {}).size() == 1);
  for (const Strategy& s : {kept, placed}) {
    const BlockTable shared = block_costs(question, s, &tables.programs());
    const BlockTable alone = block_costs(question, s);
    REQUIRE(shared.size() == alone.size());
    for (std::size_t b = 0; b < alone.size(); ++b) {
      CHECK(shared[b].forward == alone[b].forward);
      CHECK(shared[b].backward == alone[b].backward);
      REQUIRE(shared[b].variants.size() == alone[b].variants.size());
      for (std::size_t v = 0; v < alone[b].variants.size(); ++v) {
        CHECK(shared[b].variants[v].memory.working.backward == alone[b].variants[v].memory.working.backward);
        const auto variant = static_cast<std::int32_t>(v);
        CHECK(shared[b].times(variant).recompute == alone[b].times(variant).recompute);
      }
    }
  }
}

TEST_CASE("tables that were stopped are not kept") {
  const Question question = gpt2_on_8();
  BlockTables tables;
  CHECK(tables.of(question, {Strategy{}}, 1, StopRequest([] { return true; })).empty());
  CHECK(tables.of(question, {Strategy{}}, 1, {}).size() == 1);
}

// Plans that a limit leaves out are bounded away, whole families at once: what is left must be all that is better.
TEST_CASE("a search below a score finds what a whole search finds there") {
  const std::vector<Question> questions{gpt2_on_8()};
  SearchOptions options;
  options.threads = 1;
  options.top = 12;
  options.finalists = Finalists::closed_form;
  const SearchResult whole = search(questions, {}, options);
  REQUIRE(whole.best.size() == 12);
  std::vector<BlockTables> known;
  options.known_blocks = &known;
  for (const std::size_t limit : {0U, 1U, 5U, 11U}) {
    options.below = closed_form_score(whole.best[limit], questions.front(), options.objective);
    const SearchResult better = search(questions, {}, options);
    std::size_t expected = 0;
    for (const RankedStrategy& plan : whole.best)
      if (closed_form_score(plan, questions.front(), options.objective) < *options.below) ++expected;
    REQUIRE(better.best.size() >= expected);
    for (std::size_t i = 0; i < expected; ++i) {
      CHECK(better.best[i].strategy == whole.best[i].strategy);
      CHECK(better.best[i].step_time == whole.best[i].step_time);
    }
    CHECK(accounted(better.audit) == whole.audit.total);
  }
}

}  // namespace
}  // namespace plumbline
