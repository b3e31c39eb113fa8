// Ranks that share lowered programs of blocks, against ranks that lower their own.
#include "tests/execution_checks.h"

namespace plumbline::shared_programs_test {
namespace {

TEST_CASE("a run with shared programs of blocks gives the weights and bytes of one that lowers them again") {
  for (const std::int32_t ranks : {2, 3}) {
    Strategy s = single();
    s.pipeline_stages = ranks;
    s.schedule = Schedule::one_f_one_b;
    s.recompute.mode = RecomputeMode::full;
    CAPTURE(ranks);
    const LoweredPlan plan(network(Net::llama), s, recipe(Optimizer::adamw));
    TrainingJob own = plan.job();
    own.programs = nullptr;
    const Executed alone = execute(own, options(2));
    for (int run = 0; run < 2; ++run) {  // the second one finds what the first has lowered
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

}  // namespace
}  // namespace plumbline::shared_programs_test
