// Where a step's time is: what blocks communicate inside of themselves is the collective's.
#include "tests/execution_checks.h"

namespace plumbline {
namespace {

bool is_inside(ActionKind kind) {
  return kind == ActionKind::tensor_collective || kind == ActionKind::context_collective ||
         kind == ActionKind::expert_collective;
}

TEST_CASE("a collective inside of a block has its own time, at the block's end") {
  Strategy s = single();
  s.tensor_parallel = s.context_parallel = 2;
  s.micro_batches = 4;
  const LoweredPlan plan(network(Net::llama), s, recipe());
  const RunRecord record = train(plan.job(), options(3));
  for (const RankRecord& rank : record.ranks) {
    const ActionRecord* block = nullptr;
    int collectives = 0;
    for (std::size_t i = 0; i < rank.actions.size(); ++i) {
      const ActionRecord& action = rank.actions[i];
      if (plan.program.ranks[0].actions[i].pass() == Pass::step) continue;
      if (!is_inside(action.kind)) {
        if (action.stream == Stream::compute) block = &action;
        continue;
      }
      ++collectives;
      REQUIRE(block != nullptr);
      INFO(block->name << ", " << action.name);
      CHECK(action.end_ns > action.start_ns);
      CHECK(action.median_ns > 0);
      CHECK(action.start_ns >= block->end_ns);
      CHECK(block->end_ns > block->start_ns);
    }
    CHECK(collectives > 20);
  }
}

}  // namespace
}  // namespace plumbline
