// Messages of every schedule arrive in the order in which they are sent, so that NCCL, which knows no tags, can carry
// them; an order that is changed by hand is seen.
#include "runtime/run/message_order.h"
#include "tests/execution_checks.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

TEST_CASE("Messages of pipelines keep their order between two ranks, in each direction") {
  std::map<Schedule, int> seen;
  int in_order = 0;
  for (std::int64_t number = 0; number < 150; ++number) {
    const RandomRun run = random_run(23, number);
    if (run.strategy.pipeline_stages == 1) continue;
    try {
      const LoweredPlan plan(run.graph, run.strategy, run.training);
      const auto problem = first_reordered_message(plan.program);
      INFO(text_of(run) << ": " << problem.value_or(""));
      ++seen[run.strategy.schedule];
      CHECK_FALSE(problem.has_value());
      ++in_order;
    } catch (const InputError&) {
      continue;
    }
  }
  CHECK(in_order > 30);
  CHECK(seen.size() >= 5);
}

TEST_CASE("A message that overtakes another is seen") {
  Strategy s;
  s.pipeline_stages = 2;
  s.schedule = Schedule::one_f_one_b;
  s.micro_batches = 8;
  const LoweredPlan plan(network(Net::llama), s, recipe_of(Net::llama));
  Program changed = plan.program;
  std::vector<StageMessage*> receives;
  for (Action& action : changed.ranks[1].actions)
    if (action.kind() == ActionKind::receive_forward) receives.push_back(&std::get<StageMessage>(action.what));
  REQUIRE(receives.size() == 8);
  std::swap(receives[2]->peer_action, receives[5]->peer_action);
  const auto problem = first_reordered_message(changed);
  REQUIRE(problem.has_value());
  CHECK(problem->find("pipeline rank 1 receives what rank 0 sends in another order") != std::string::npos);
}

}  // namespace
}  // namespace plumbline
