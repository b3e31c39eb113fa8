// A plan's network as constants of a script in plain PyTorch.

#include "planner/frameworks/pytorch/network.h"

#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using pytorch::script_network;
using pytorch::ScriptNetwork;

LaunchSettings plan_of(const std::string& model, std::int32_t tensor_parallel = 1) {
  LaunchSettings s;
  s.model = model;
  s.sequence_length = 1024;
  s.tensor_parallel = tensor_parallel;
  return s;
}
std::string member(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  return found == nullptr ? "absent" : to_json_text(*found, -1);
}

// config.json of meta-llama/Llama-3.1-8B, and its safetensors' index.
TEST_CASE("Llama 3.1 is written with its grouped queries and scaled rotary positions") {
  const ScriptNetwork written = script_network(plan_of("llama-3.1-8b"));
  CHECK(written.stand_in.empty());
  CHECK(member(written.network, "width") == "4096\n");
  CHECK(member(written.network, "key_value_heads") == "8\n");
  CHECK(member(written.network, "norm_epsilon") == "1e-05\n");
  CHECK(member(written.network, "rotary") ==
        "{\"base\":5e+05,\"features\":128,\"scaling\":\"llama3\",\"factor\":8.0,\"low_frequency_turns\":1.0,"
        "\"high_frequency_turns\":4.0,\"original_positions\":8192.0}\n");
  CHECK(member(written.published, "layers.*.mlp.down.weight") == "[\"model.layers.*.mlp.down_proj.weight\",0,false]\n");
}

// modeling_gpt2.py: Conv1D keeps [inputs, outputs], and c_attn has queries, keys and values side by side (768 each).
TEST_CASE("GPT-2's queries, keys and values lie in one transposed tensor") {
  const ScriptNetwork written = script_network(plan_of("gpt2"));
  CHECK(written.stand_in.empty());
  CHECK(member(written.network, "tied") == "true\n");
  CHECK(member(written.published, "layers.*.attention.qkv.k.weight") ==
        "[\"transformer.h.*.attn.c_attn.weight\",768,true]\n");
  CHECK(member(written.published, "layers.*.attention.qkv.v.bias") ==
        "[\"transformer.h.*.attn.c_attn.bias\",1536,false]\n");
  CHECK(member(written.published, "output.head.weight") == "absent");
}

TEST_CASE("of a mixture every expert is a tensor") {
  const ScriptNetwork written = script_network(plan_of("mixtral-8x7b"));
  CHECK(member(written.network, "experts") ==
        "{\"count\":8,\"chosen\":2,\"width\":14336,\"normalises_weights\":true,\"dense_layers\":[]}\n");
  CHECK(member(written.published, "layers.*.experts.gate_up.up.weight") ==
        "[\"model.layers.*.block_sparse_moe.experts.#.w3.weight\",0,false]\n");
}

TEST_CASE("biases of Qwen 2, norms of Qwen 3 and windows of Mistral are written") {
  CHECK(member(script_network(plan_of("qwen2-0.5b")).network, "qkv_bias") == "true\n");
  CHECK(member(script_network(plan_of("qwen2-0.5b")).network, "output_bias") == "false\n");
  CHECK(member(script_network(plan_of("qwen3-8b")).network, "head_norm") == "true\n");
  CHECK(member(script_network(plan_of("mistral-7b")).network, "windows").starts_with("[4096,4096,"));
}

TEST_CASE("what the script's decoder does not have is said, and a stand-in takes its place") {
  CHECK(script_network(plan_of("gemma-2-2b")).stand_in.starts_with("gemma2 (scaled embeddings"));
  CHECK(script_network(plan_of("pythia-70m")).stand_in ==
        "the script has no layers whose parts are joined otherwise than x + part(norm(x))");
  CHECK(script_network(plan_of("flan-t5-base")).stand_in ==
        "the plan's network is no decoder that predicts the next token");
  CHECK(script_network(plan_of("no-such-network")).stand_in == "the plan's network is not known here");
  LaunchSettings longer = plan_of("gpt2");
  longer.sequence_length = 1025;
  CHECK(script_network(longer).stand_in == "it has 1024 learned positions for 1025 tokens");
  CHECK(member(script_network(plan_of("bert-base", 8)).network, "heads") == "8\n");  // one for each rank
}

TEST_CASE("ranks that do not divide the heads are named") {
  CHECK(pytorch::undivided_heads(plan_of("llama-3.1-8b", 8)).empty());
  CHECK(pytorch::undivided_heads(plan_of("llama-3.1-8b", 16)) ==
        "train.py divides key-value heads over tensor-parallel ranks: 8 heads for 16 ranks");
}

TEST_CASE("a script's network comes back from it") {
  const LaunchFiles files = pytorch_target().write(plan_of("qwen2-0.5b"), "2.13");
  const Imported imported = pytorch_target().read(files.files.front().text, "train.py");
  REQUIRE(imported.settings.network_config.find("model_type") != nullptr);
  CHECK(member(imported.settings.network_config, "model_type") == "\"qwen2\"\n");
  CHECK_THROWS_AS(pytorch_target().read("CONFIG = \"[1]\"\n", "x.py"), InputError);
}

}  // namespace
}  // namespace plumbline
