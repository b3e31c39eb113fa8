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

/// The first matrix of GPT-2's MLP: 768 x 3072 weights, 2 bytes each in bf16.
TEST_CASE("weights and states are divided down to the tensors of each layer") {
  const SharedPlan plan = priced(pipelined());  // data parallelism of 2, ZeRO 0
  const std::vector<std::vector<MemoryBranch>> trees =
      memory_trees(*memory_data(plan, knobs_of(plan->answer.strategy)));
  const auto branch = [&](MemoryClass memory_class) {
    return *std::find_if(trees[1].begin(), trees[1].end(),
                         [&](const MemoryBranch& one) { return one.memory_class == memory_class; });
  };
  std::map<std::string, Bytes> weights;
  for (const MemoryLeaf& leaf : branch(MemoryClass::weights).leaves) weights.emplace(leaf.name, leaf.bytes);
  const auto matrix = std::find_if(weights.begin(), weights.end(),
                                   [](const auto& leaf) { return leaf.second.value() / 2 == 768 * 3072; });
  INFO("parts: " << weights.size());
  REQUIRE(matrix != weights.end());
  CHECK(matrix->first.starts_with("layer "));
  CHECK(weights.size() > 3 * 8);  // three layers of more than eight tensors
  CHECK(branch(MemoryClass::optimizer_state).leaves.size() == weights.size());
}

TEST_CASE("of very many tensors each kind is one part over the layers") {
  AskedPlan asked;
  asked.model = "llama-3-8b";
  asked.strategy.tensor_parallel = 8;
  const SharedPlan plan = priced(asked);
  const std::vector<std::vector<MemoryBranch>> trees =
      memory_trees(*memory_data(plan, knobs_of(plan->answer.strategy)));
  for (const MemoryBranch& branch : trees.front()) {
    Bytes sum(0);
    for (const MemoryLeaf& leaf : branch.leaves) sum += leaf.bytes;
    CHECK(sum == branch.bytes);
    if (branch.memory_class != MemoryClass::weights) continue;
    CHECK(branch.leaves.size() < 40);
    CHECK(std::any_of(branch.leaves.begin(), branch.leaves.end(), [](const MemoryLeaf& leaf) {
      return leaf.name.find("layer 0 to layer 31") != std::string::npos;
    }));
  }
}

}  // namespace
}  // namespace plumbline::gui
