// Ranks that share the programs of blocks, against ranks that have copies of their own.
#include "core/program/block_program.h"
#include "tests/execution_checks.h"

namespace plumbline::shared_programs_test {
namespace {

/// With a copy for each execution of a block.
Program with_own_blocks(Program program) {
  for (std::shared_ptr<const BlockProgram>& block : program.blocks)
    block = std::make_shared<const BlockProgram>(*block);
  return program;
}

TEST_CASE("a run whose ranks share programs of blocks gives the weights and bytes of one with copies") {
  for (const std::int32_t ranks : {2, 3}) {
    Strategy s = single();
    s.pipeline_stages = ranks;
    s.schedule = Schedule::one_f_one_b;
    s.recompute.mode = RecomputeMode::full;
    CAPTURE(ranks);
    const LoweredPlan plan(network(Net::llama), s, recipe(Optimizer::adamw));
    const Program copies = with_own_blocks(plan.program);
    const TrainingJob whole = plan.job();
    const TrainingJob own{whole.graph, whole.strategy, whole.training, copies, {}, whole.learning_rate, {}, {}, "test"};
    const Executed alone = execute(own, options(2));
    for (int run = 0; run < 2; ++run) {  // the second one finds them as they were
      const Executed shared = execute(plan.job(), options(2));
      CHECK(shared.weights == alone.weights);
      REQUIRE(shared.record.ranks.size() == alone.record.ranks.size());
      for (std::size_t rank = 0; rank < alone.record.ranks.size(); ++rank) {
        CHECK(shared.record.ranks[rank].memory.at_peak.by_class == alone.record.ranks[rank].memory.at_peak.by_class);
        CHECK(shared.record.ranks[rank].sent == alone.record.ranks[rank].sent);
      }
    }
  }
}

TEST_CASE("executions of a block that run it alike have one program, in the sizes of the rank") {
  const LoweredPlan plan(network(Net::llama), single(), recipe());
  const std::vector<BlockId> sequence = plan.graph.sequence();
  const Shard shard = shard_of(plan.strategy, plan.training);
  REQUIRE(plan.program.blocks.size() == sequence.size());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Block& block = plan.graph.block(sequence[i]);
    CHECK(to_text(*plan.program.blocks[i], block) ==
          to_text(BlockLowering(block, shard).lower(plan.replays[i]), block));
    for (std::size_t other = 0; other < i; ++other)
      CHECK((plan.program.blocks[i] == plan.program.blocks[other]) == (sequence[i] == sequence[other]));
  }
}

}  // namespace
}  // namespace plumbline::shared_programs_test
