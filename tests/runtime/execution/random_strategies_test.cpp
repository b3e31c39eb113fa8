// Strategies drawn at random over all axes: one rank's losses, weights and gradients, the predicted bytes, and the same
// bits twice.
#include <set>

#include "tests/execution_checks.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

std::string_view name_of(Net net) { return net == Net::gpt ? "gpt: " : net == Net::llama ? "llama: " : "experts: "; }

/// What expert parallelism was drawn with.
void note_experts(const Strategy& s, std::set<std::string>& met) {
  if (s.expert_parallel == 1) return;
  met.insert("ep " + std::to_string(s.expert_parallel));
  if (s.tensor_parallel > 1) met.insert("tp");
  if (s.context_parallel > 1) met.insert("cp");
  if (s.pipeline_stages > 1) met.insert("pp");
  if (s.data_parallel > 1) met.insert("dp");
  if (s.zero_stage > 0) met.insert("zero " + std::to_string(s.zero_stage));
}

/// Experts get rows in turn, which is what is predicted; every third strategy what the router says.
std::set<std::string> compare(Net net, int strategies) {
  const auto run_as = [&](const LoweredPlan& plan, ExpertRouting routing) {
    return execute(routed(plan, routing), options());
  };
  const LoweredPlan one_rank(network(net), single(), recipe_of(net));
  const std::map<ExpertRouting, Executed> alone{{ExpertRouting::balanced, run_as(one_rank, ExpertRouting::balanced)},
                                                {ExpertRouting::learned, run_as(one_rank, ExpertRouting::learned)}};
  RandomStrategies random(network(net), recipe_of(net));
  std::set<std::string> met;
  for (int n = 0; n < strategies; ++n) {
    const Strategy s = random.next(net == Net::gpt);
    note_experts(s, met);
    INFO(name_of(net) << to_text(s));
    const LoweredPlan plan(network(net), s, recipe_of(net));
    const ExpertRouting routing = net == Net::moe && n % 3 != 2 ? ExpertRouting::balanced : ExpertRouting::learned;
    const Executed run = run_as(plan, routing);
    const Executed& expected = alone.at(routing);
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(1e-5));
    require_equal(run.gradients, expected.gradients, 2e-5);
    require_equal(run.weights, expected.weights, 1e-5);
    if (net == Net::moe) require_routed_bytes(plan, run.record);
    if (net != Net::moe || routing == ExpertRouting::balanced) require_bytes(plan, run.record);
    if (n % 4 != 0) continue;
    const Executed again = run_as(plan, routing);
    CHECK(again.weights == run.weights);
    CHECK(again.gradients == run.gradients);
  }
  return met;
}

std::set<std::string> compare(int dense, int experts) {
  (void)compare(Net::gpt, dense / 2);
  (void)compare(Net::llama, dense / 2);
  return compare(Net::moe, experts);
}

TEST_CASE("strategies drawn at random equal one rank and what was predicted") { (void)compare(14, 6); }
TEST_CASE("two hundred strategies drawn at random equal one rank and what was predicted", "[long]") {
  CHECK(compare(130, 70) ==
        std::set<std::string>{"ep 2", "ep 4", "cp", "dp", "pp", "tp", "zero 1", "zero 2", "zero 3"});
}

}  // namespace
}  // namespace plumbline
