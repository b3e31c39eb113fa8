#include "planner/explain/strategy_changes.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

Strategy strategy(std::int32_t tp, std::int32_t pp, std::int32_t dp) {
  Strategy s;
  s.tensor_parallel = tp;
  s.pipeline_stages = pp;
  s.data_parallel = dp;
  if (pp > 1) s.schedule = Schedule::one_f_one_b;
  return s;
}

TEST_CASE("data parallelism follows from the degrees and is not counted") {
  const auto changes = changes_between(strategy(2, 1, 6), strategy(6, 1, 2));
  CHECK(to_text(changes) == "tp 2 -> 6, dp 6 -> 2");
  CHECK(chosen_steps(changes) == std::vector<std::string>{"tp 2 -> 6"});
}

TEST_CASE("two ways to begin tensor parallelism are told apart") {
  const Strategy flat = strategy(1, 1, 8);
  Strategy sequence = strategy(4, 1, 2);
  CHECK(chosen_steps(changes_between(flat, sequence)) == std::vector<std::string>{"tp 1 -> 4"});
  sequence.sequence_parallel = SequenceParallel::on;
  CHECK(chosen_steps(changes_between(flat, sequence)) ==
        std::vector<std::string>{"tp 1 -> 4 with sequence parallelism"});
}

TEST_CASE("a first pipeline takes 1F1B without a choice, and zero bubble by one") {
  const Strategy flat = strategy(2, 1, 6);
  Strategy piped = strategy(2, 3, 2);
  CHECK(chosen_steps(changes_between(flat, piped)) == std::vector<std::string>{"pp 1 -> 3"});
  CHECK(chosen_steps(changes_between(piped, flat)) == std::vector<std::string>{"pp 3 -> 1"});
  piped.schedule = Schedule::zb_h1;
  CHECK(chosen_steps(changes_between(flat, piped)).size() == 2);
}

TEST_CASE("interleaved is 1F1B with virtual stages") {
  const Strategy plain = strategy(1, 4, 3);
  Strategy interleaved = plain;
  interleaved.schedule = Schedule::interleaved;
  interleaved.virtual_stages = 2;
  CHECK(chosen_steps(changes_between(plain, interleaved)) == std::vector<std::string>{"virtual stages 1 -> 2"});
}

TEST_CASE("a shard group that stays whole follows the ranks, a smaller one does not") {
  Strategy before = strategy(2, 1, 6);
  before.zero_stage = 1;
  before.shard_group = 6;
  Strategy after = strategy(4, 1, 3);
  after.zero_stage = 1;
  after.shard_group = 3;
  CHECK(chosen_steps(changes_between(before, after)) == std::vector<std::string>{"tp 2 -> 4"});
  Strategy hybrid = before;
  hybrid.shard_group = 2;
  CHECK(chosen_steps(changes_between(before, hybrid)) == std::vector<std::string>{"shard group 6 -> 2"});
}

TEST_CASE("the same strategy has no changes") { CHECK(changes_between(strategy(3, 5, 1), strategy(3, 5, 1)).empty()); }

}  // namespace
}  // namespace plumbline
