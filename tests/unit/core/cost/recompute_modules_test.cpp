// Which operators run again, by name, in the layers of networks that have the module and of those that do not.

#include "core/cost/recompute_modules.h"

#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Names = std::vector<std::string>;

/// Of the network's first layer with such an operator, in order of execution.
Names replayed(const char* network, const std::string& with_op, const std::string& modules) {
  const Graph graph = find_network(network).graph;
  const auto recompute = recompute_from_text("selective:" + modules);
  REQUIRE(recompute.has_value());
  for (const Block& block : graph.blocks()) {
    if (block.kind() != BlockKind::layer) continue;
    if (std::none_of(block.ops().begin(), block.ops().end(), [&](const Op& op) { return op.name == with_op; }))
      continue;
    // "selective:core_attn" is written as selective recompute, whose set of modules is empty.
    RecomputeModules asked = recompute->modules;
    if (recompute->mode == RecomputeMode::selective) asked.add(RecomputeModule::core_attn);
    const std::vector<bool> marks = replayed_by_modules(block, asked);
    Names names;
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (marks[i]) names.push_back(block.op(block.execution_order()[i]).name);
    return names;
  }
  FAIL("no layer of " << network << " has " << with_op);
  return {};
}

}  // namespace

TEST_CASE("core_attn is the attention alone") {
  CHECK(replayed("llama-3-8b", "attention.core", "core_attn") == Names{"attention.core"});
}

TEST_CASE(
    "layernorm is the norms before attention and MLP, not those of heads, of compressed tensors or after a part") {
  const Names both{"attention.norm", "mlp.norm"};
  CHECK(replayed("llama-3-8b", "attention.core", "layernorm") == both);
  CHECK(replayed("qwen3-8b", "attention.q_norm", "layernorm") == both);
  CHECK(replayed("deepseek-v3", "attention.q_a_norm", "layernorm") == both);
  CHECK(replayed("gemma-2-9b", "mlp.post_norm", "layernorm") == both);
}

TEST_CASE("mlp is the dense MLP with the norm that is fused into its first product") {
  const Names dense{"mlp.norm", "mlp.gate_up", "mlp.activation", "mlp.down"};
  CHECK(replayed("llama-3-8b", "mlp.down", "mlp") == dense);
  CHECK(replayed("gemma-2-9b", "mlp.post_norm", "mlp") == dense);
  CHECK(replayed("deepseek-v3", "mlp.down", "mlp") == dense);
  CHECK(replayed("deepseek-v3", "experts.router", "mlp").empty());
}

TEST_CASE("mla_up_proj is what stands between compressed tensors and attention") {
  CHECK(replayed("deepseek-v3", "experts.router", "mla_up_proj") ==
        Names{"attention.q_a_norm", "attention.q_b", "attention.kv_a_norm", "attention.kv_b", "attention.k_rotary",
              "attention.k_rope_heads", "attention.k", "attention.q_rotary"});
  // DeepSeek-V2-Lite and Moonlight do not compress queries; Llama compresses nothing.
  CHECK(replayed("moonlight-16b-a3b", "experts.router", "mla_up_proj").front() == "attention.q_b");
  CHECK(replayed("llama-3-8b", "attention.core", "mla_up_proj").empty());
}

TEST_CASE("moe is experts and shared experts; moe_act and shared_experts are parts of it") {
  const Names shared{"shared_expert.gate_up", "shared_expert.activation", "shared_expert.down"};
  const Names moe = replayed("deepseek-v3", "experts.router", "moe");
  CHECK(replayed("deepseek-v3", "experts.router", "moe_act") == Names{"experts.activation"});
  CHECK(replayed("deepseek-v3", "experts.router", "shared_experts") == shared);
  for (const char* part :
       {"experts.router", "experts.dispatch", "experts.gate_up", "experts.activation", "experts.down",
        "experts.combine", "experts.sum", "shared_expert.gate_up", "shared_expert.activation", "shared_expert.down"})
    CHECK(std::count(moe.begin(), moe.end(), part) == 1);
  CHECK(moe.size() == 10);
}

TEST_CASE("modules together replay what each replays") {
  CHECK(replayed("llama-3-8b", "attention.core", "layernorm+mlp") ==
        Names{"attention.norm", "mlp.norm", "mlp.gate_up", "mlp.activation", "mlp.down"});
}

}  // namespace plumbline
