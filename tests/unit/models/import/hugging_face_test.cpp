#include "models/import/hugging_face.h"

#include "core/graph/parameter_count.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Network imported(std::string_view text) {
  const Json json = parse_json(text, "config.json");
  return import_hugging_face(JsonPlace(json, "config.json:"), "net", LayerCount::stated_or_default);
}

/// The kinds of the ops of a block, in order, that are `kind`.
int count_ops(const Block& block, OpKind kind) {
  int count = 0;
  for (const Op& op : block.ops()) count += op.kind == kind ? 1 : 0;
  return count;
}

const AttentionAttributes& attention_of(const Block& block) {
  for (const Op& op : block.ops())
    if (op.kind == OpKind::attention) return std::get<AttentionAttributes>(op.attributes);
  throw std::logic_error("no attention");
}

std::vector<std::pair<std::string, std::int64_t>> runs_of(const Graph& graph) {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (const BlockRun& run : graph.runs()) result.emplace_back(graph.block(run.block).name(), run.count);
  return result;
}
using Runs = std::vector<std::pair<std::string, std::int64_t>>;

}  // namespace

TEST_CASE("A token network is an input block, its layers, and an output block") {
  const Network network = imported(R"({"model_type": "llama", "num_hidden_layers": 3})");
  CHECK(runs_of(network.graph) == Runs{{"input", 1}, {"layer", 3}, {"output", 1}});
  CHECK(network.graph.blocks()[0].inputs().empty());
  const Block& layer = network.graph.blocks()[1];
  CHECK(to_text(layer.tensor(layer.inputs()[0]).shape) == "[batch, sequence, 4096]");
  CHECK(layer.tensor(layer.inputs()[0]).partition == Partition::sequence);
}

TEST_CASE("An absent key means its architecture's default, null something of its own") {
  const auto kv_heads = [](std::string_view text) { return attention_of(imported(text).graph.blocks()[1]).kv_heads; };
  CHECK(kv_heads(R"({"model_type": "mistral"})") == 8);
  CHECK(kv_heads(R"({"model_type": "mistral", "num_key_value_heads": null})") == 32);
  CHECK(kv_heads(R"({"model_type": "llama"})") == 32);
  CHECK(kv_heads(R"({"model_type": "qwen3_moe"})") == 4);
  const auto window = [](std::string_view text) { return attention_of(imported(text).graph.blocks()[1]).window; };
  CHECK(window(R"({"model_type": "mistral"})") == 4096);
  CHECK(window(R"({"model_type": "mistral", "sliding_window": null})") == 0);
  CHECK(window(R"({"model_type": "qwen2", "sliding_window": 1024})") == 0);
}

TEST_CASE("The head dimension may differ from hidden / heads") {
  const AttentionAttributes a = attention_of(imported(R"({"model_type": "qwen3"})").graph.blocks()[1]);
  CHECK(a.qk_head_dim == 128);
  CHECK(attention_of(imported(R"({"model_type": "qwen3_moe"})").graph.blocks()[1]).qk_head_dim == 64);
}

TEST_CASE("Synonyms of keys are one key") {
  const Network a = imported(R"({"model_type": "gpt2", "n_embd": 96, "n_layer": 2, "n_head": 4})");
  const Network b =
      imported(R"({"model_type": "gpt2", "hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4})");
  CHECK(parameter_count(a.graph) == parameter_count(b.graph));
}

TEST_CASE("Dropout is an operator only where its probability is above zero") {
  const Block with = imported(R"({"model_type": "gpt2"})").graph.blocks()[1];
  CHECK(count_ops(with, OpKind::dropout) == 2);
  CHECK(attention_of(with).dropout);
  const Block without = imported(R"({"model_type": "gpt2", "attn_pdrop": 0, "resid_pdrop": 0.0})").graph.blocks()[1];
  CHECK(count_ops(without, OpKind::dropout) == 0);
  CHECK_FALSE(attention_of(without).dropout);
}

TEST_CASE("Alternating windows are two blocks in turn") {
  const Network network = imported(R"({"model_type": "gemma3_text", "num_hidden_layers": 7, "sliding_window": 512})");
  CHECK(runs_of(network.graph) ==
        Runs{{"input", 1}, {"layer_window", 5}, {"layer_global", 1}, {"layer_window", 1}, {"output", 1}});
  const Network listed = imported(
      R"({"model_type": "gemma2", "num_hidden_layers": 2, "layer_types": ["full_attention", "sliding_attention"]})");
  CHECK(runs_of(listed.graph) == Runs{{"input", 1}, {"layer_global", 1}, {"layer_window", 1}, {"output", 1}});
}

TEST_CASE("Experts stand where the architecture puts them") {
  CHECK(runs_of(imported(R"({"model_type": "deepseek_v3"})").graph) ==
        Runs{{"input", 1}, {"layer_dense", 3}, {"layer_experts", 58}, {"output", 1}});
  CHECK(runs_of(imported(R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "mlp_only_layers": [0]})").graph) ==
        Runs{{"input", 1}, {"layer_dense", 1}, {"layer_experts", 3}, {"output", 1}});
  CHECK(runs_of(imported(R"({"model_type": "qwen2_moe", "num_hidden_layers": 4, "decoder_sparse_step": 2})").graph) ==
        Runs{{"input", 1},
             {"layer_dense", 1},
             {"layer_experts", 1},
             {"layer_dense", 1},
             {"layer_experts", 1},
             {"output", 1}});
}

// Query and key: 128 features without position and 64 with; values: 128.
TEST_CASE("Latent attention expands keys and values for every head") {
  const Network network = imported(R"({"model_type": "deepseek_v3"})");
  const AttentionAttributes a = attention_of(network.graph.blocks()[1]);
  CHECK(a.heads == 128);
  CHECK(a.kv_heads == 128);
  CHECK(a.qk_head_dim == 192);
  CHECK(a.v_head_dim == 128);
}

TEST_CASE("Multimodal configs give their language model") {
  const Network network = imported(
      R"({"model_type": "gemma3", "vision_config": {"hidden_size": 9}, "text_config": {"num_hidden_layers": 2}})");
  CHECK(network.model_type == "gemma3_text");
  CHECK(network.graph.layer_count() == 2);
  CHECK_FALSE(network.note.empty());
  CHECK(imported(R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text"}})").model_type ==
        "llama4_text");
}

TEST_CASE("T5 hands both states through both stacks; the first layers hold the position tables") {
  const Network network = imported(R"({"model_type": "t5"})");
  CHECK(runs_of(network.graph) ==
        Runs{{"input", 1}, {"encoder_first", 1}, {"encoder", 5}, {"decoder_first", 1}, {"decoder", 5}, {"output", 1}});
  for (const Block& block : network.graph.blocks())
    if (block.kind() == BlockKind::layer) CHECK(block.inputs().size() == 2);
  CHECK(count_ops(network.graph.blocks()[4], OpKind::attention) == 2);
}

TEST_CASE("A vision transformer's tokens are its patches and the class token") {
  const Network network = imported(R"({"model_type": "vit", "image_size": 64, "patch_size": 16})");
  CHECK(network.default_sequence_length == 17);
  const Block& layer = network.graph.blocks()[1];
  CHECK(to_text(layer.tensor(layer.inputs()[0]).shape) == "[batch, 17, 768]");
}

TEST_CASE("A residual network halves its images stage by stage") {
  const Graph graph = imported(R"({"model_type": "resnet"})").graph;
  const Block& output = graph.blocks().back();
  CHECK(to_text(output.tensor(output.inputs()[0]).shape) == "[batch, 2048, 7, 7]");
  CHECK(graph.layer_count() == 16);
}

TEST_CASE("Every model_type is built from its defaults alone") {
  for (const std::string& type : hugging_face_model_types()) {
    INFO(type);
    // The defaults of glm4_moe do not divide (4096 over 96 heads); its files state the head dimension.
    const std::string more = type == "glm4_moe" ? ", \"head_dim\": 128" : "";
    CHECK(parameter_count(imported("{\"model_type\": \"" + type + "\"" + more + "}").graph) > 0);
  }
}

TEST_CASE("Qwen3-Next attends in every fourth layer and carries a state through the others") {
  const Network network = imported(R"({"model_type": "qwen3_next", "num_hidden_layers": 9})");
  CHECK(runs_of(network.graph) == Runs{{"input", 1},
                                       {"layer_delta_net", 3},
                                       {"layer_attention", 1},
                                       {"layer_delta_net", 3},
                                       {"layer_attention", 1},
                                       {"layer_delta_net", 1},
                                       {"output", 1}});
  for (const Block& block : network.graph.blocks()) {
    CHECK(count_ops(block, OpKind::attention) == (block.name() == "layer_attention" ? 1 : 0));
    CHECK(count_ops(block, OpKind::delta_rule) == (block.name() == "layer_delta_net" ? 1 : 0));
    CHECK(count_ops(block, OpKind::rotary) == (block.name() == "layer_attention" ? 2 : 0));
  }
  const Network every_third =
      imported(R"({"model_type": "qwen3_next", "num_hidden_layers": 3, "full_attention_interval": 3})");
  CHECK(runs_of(every_third.graph) ==
        Runs{{"input", 1}, {"layer_delta_net", 2}, {"layer_attention", 1}, {"output", 1}});
  const Network listed = imported(
      R"({"model_type": "qwen3_next", "num_hidden_layers": 2, "layer_types": ["full_attention", "linear_attention"]})");
  CHECK(runs_of(listed.graph) == Runs{{"input", 1}, {"layer_attention", 1}, {"layer_delta_net", 1}, {"output", 1}});
}

// modeling_qwen3_next.py with odd numbers: hidden 30, 3 key heads of 5, 6 value heads of 7, kernel 3; queries and gates
// 2 x 4 x 9, keys and values 2 x 2 x 9; 5 experts of 11 and a shared one of 13, with router and gate.
TEST_CASE("Qwen3-Next's parameters are those of its modules") {
  const Network network = imported(R"({"model_type": "qwen3_next", "num_hidden_layers": 2, "full_attention_interval": 2,
    "vocab_size": 17, "hidden_size": 30, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 9,
    "linear_num_key_heads": 3, "linear_num_value_heads": 6, "linear_key_head_dim": 5, "linear_value_head_dim": 7,
    "linear_conv_kernel_dim": 3, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 11,
    "shared_expert_intermediate_size": 13})");
  const std::int64_t mixture = 5 * 30 + 5 * 3 * 30 * 11 + 3 * 30 * 13 + 30;
  const std::int64_t delta_net = 30 * (2 * 15 + 2 * 42) + 30 * 12 + (2 * 15 + 42) * 3 + 6 + 6 + 7 + 42 * 30;
  const std::int64_t attention = 30 * 72 + 2 * 30 * 18 + 36 * 30 + 2 * 9;
  CHECK(parameter_count(network.graph) == 2 * 17 * 30 + 30 + 2 * (mixture + 2 * 30) + delta_net + attention);
}

}  // namespace plumbline
