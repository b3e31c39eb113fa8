// 8-bit AdamW where ranks share or divide parameters: the predicted bytes, and losses near those of AdamW.
#include <algorithm>
#include <vector>

#include "tests/execution_checks.h"

namespace plumbline::quantized_update_test {
namespace {

/// Wide enough for matrices and the head to have quantized states, which start at 4 096 elements.
Graph wide_network() {
  return llama({.layers = 4, .hidden = 64, .heads = 8, .kv_heads = 4, .head_dim = 8, .width = 96, .vocabulary = 64});
}

Strategy spread(std::int32_t data, std::int32_t tensor, std::int32_t pipeline, std::int32_t zero = 0) {
  Strategy s = single();
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.pipeline_stages = pipeline;
  s.schedule = pipeline > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.zero_stage = zero;
  s.shard_group = zero > 0 ? data : 1;
  s.micro_batches = 8 / data / s.micro_batch;
  return s;
}

std::int64_t highest_states(const RunRecord& record) {
  std::int64_t most = 0;
  for (const RankRecord& rank : record.ranks)
    most = std::max(most, rank.memory.highest[MemoryClass::optimizer_state].value());
  return most;
}

TEST_CASE("8-bit AdamW takes the predicted bytes under ZeRO, tensor and pipeline parallelism, and follows AdamW") {
  const LoweredPlan exact(wide_network(), single(), recipe(Optimizer::adamw));
  const Executed in_fp32 = execute(exact.job(), options(4));
  for (const Optimizer optimizer : {Optimizer::adamw_8bit, Optimizer::paged_adamw_8bit})
    for (const Strategy& strategy :
         {single(), spread(2, 1, 1, 1), spread(4, 1, 1, 3), spread(2, 2, 1, 2), spread(2, 2, 2, 1), spread(1, 2, 2)}) {
      INFO(to_text(optimizer) << " " << to_text(strategy));
      const LoweredPlan plan(wide_network(), strategy, recipe(optimizer));
      const Executed run = execute(plan.job(), options(4));
      require_bytes(plan, run.record);
      for (const RankRecord& rank : run.record.ranks) {
        const MemoryBreakdown& predicted = plan.simulation.memory[static_cast<std::size_t>(rank.stage)].memory;
        CHECK(rank.memory.highest[MemoryClass::optimizer_state].value() ==
              predicted[MemoryClass::optimizer_state].value());
      }
      require_equal(run.gradients, in_fp32.gradients, 2e-5);
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(run.record.steps[i].loss == Approx(in_fp32.record.steps[i].loss).epsilon(5e-3));
    }
}

// Of this network three quarters of the parameters are quantized: 2 * 65/64 bytes instead of 8.
TEST_CASE("8-bit states take less than half of those in fp32, whatever the recipe's format of moments") {
  const LoweredPlan exact(wide_network(), single(), recipe(Optimizer::adamw));
  const LoweredPlan plan(wide_network(), single(), recipe(Optimizer::adamw_8bit));
  const std::int64_t whole = highest_states(execute(exact.job(), options(1)).record);
  const std::int64_t quantized = highest_states(execute(plan.job(), options(1)).record);
  CHECK(quantized * 2 < whole);
  Training in_bf16 = recipe(Optimizer::adamw_8bit);
  in_bf16.precision = PrecisionRecipe::bf16_pure;
  const LoweredPlan pure(wide_network(), single(), in_bf16);
  CHECK(highest_states(execute(pure.job(), options(1)).record) == quantized);
}

TEST_CASE("Adapters, experts and layers that share a unit hold the predicted bytes of 8-bit states") {
  Training adapted_recipe = recipe(Optimizer::adamw_8bit);
  adapted_recipe.adaptation.lora_rank = 64;
  const LoweredPlan lora(adapted(wide_network(), adapted_recipe.adaptation), spread(2, 2, 1, 2), adapted_recipe);
  require_bytes(lora, execute(lora.job(), options(2)).record);
  Strategy units = spread(2, 1, 1, 3);
  units.layers_per_unit = 2;
  const LoweredPlan joined(wide_network(), units, recipe(Optimizer::adamw_8bit));
  require_bytes(joined, execute(joined.job(), options(2)).record);
  LlamaShape shape = llama_shape(Net::moe);
  shape.hidden = 64;
  Training routed_recipe = recipe_of(Net::moe);
  routed_recipe.optimizer = Optimizer::adamw_8bit;
  Strategy experts = spread(4, 1, 1, 1);
  experts.expert_parallel = 2;
  const LoweredPlan mixture(llama(shape), experts, routed_recipe);
  require_bytes(mixture, execute(routed(mixture, ExpertRouting::balanced), options(2)).record);
}

}  // namespace
}  // namespace plumbline::quantized_update_test
