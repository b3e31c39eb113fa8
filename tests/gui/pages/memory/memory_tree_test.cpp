// What a stage holds at its peak, down to layers.
#include "gui/pages/memory/memory_tree.h"

#include "gui/pages/memory/memory_data.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

TEST_CASE("layers of a class sum to the class, and classes to the simulated peak") {
  const SharedPlan plan = priced(pipelined());
  const SharedMemory memory = memory_data(plan, knobs_of(plan->answer.strategy));
  const std::vector<std::vector<MemoryBranch>> trees = memory_trees(*memory);
  REQUIRE(trees.size() == 4);
  SimulationOptions options;
  options.granularity = Granularity::block;
  const SimulatedPlan expected = simulated(plan->answer.question, plan->answer.strategy, options);
  for (std::size_t stage = 0; stage < trees.size(); ++stage) {
    Bytes total(0);
    for (const MemoryBranch& branch : trees[stage]) {
      Bytes sum(0);
      for (const MemoryLeaf& leaf : branch.leaves) sum += leaf.bytes;
      CHECK(sum == branch.bytes);
      total += sum;
    }
    CHECK(total == expected.simulation.memory[stage].memory.device_total());
  }
}

TEST_CASE("activations are named by the layers of the stage that keep them") {
  const SharedPlan plan = priced(pipelined());  // 12 layers on 4 stages
  const std::vector<std::vector<MemoryBranch>> trees =
      memory_trees(*memory_data(plan, knobs_of(plan->answer.strategy)));
  const auto activations = std::find_if(trees[1].begin(), trees[1].end(), [](const MemoryBranch& branch) {
    return branch.memory_class == MemoryClass::activations;
  });
  REQUIRE(activations != trees[1].end());
  std::set<std::string> names;
  for (const MemoryLeaf& leaf : activations->leaves) names.insert(leaf.name);
  for (const char* layer : {"layer 3", "layer 4", "layer 5"}) CHECK(names.contains(layer));
  CHECK_FALSE(names.contains("layer 2"));
  CHECK(memory_tree_table(trees[1]).rows.size() >= names.size());
}

}  // namespace
}  // namespace plumbline::gui
