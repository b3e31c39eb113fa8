#include "models/import/hugging_face.h"

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What the importer says about a config, or "accepted".
std::string refusal(std::string_view text) {
  try {
    const Json json = parse_json(text, "config.json");
    (void)import_hugging_face(JsonPlace(json, "config.json"), "net");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("An unknown model_type is refused with the nearest ones and the keys that were found") {
  const std::string words = refusal(R"({"model_type": "lama", "hidden_size": 64, "colour": 3})");
  CHECK_THAT(words, ContainsSubstring("config.json:/model_type: unknown model_type \"lama\""));
  CHECK_THAT(words, ContainsSubstring("keys found: model_type, hidden_size, colour"));
  CHECK_THAT(words, ContainsSubstring("nearest: llama"));
}

TEST_CASE("An unknown model_type is told how to be read as the likeliest known one") {
  const auto advice = [](const std::string& type) {
    return "nearest: " + type + " (plan models config.json --as " + type + " --out network.json reads it so)";
  };
  CHECK_THAT(refusal(R"({"model_type": "lama"})"), ContainsSubstring(advice("llama")));
  CHECK_THAT(refusal(R"({"model_type": "house", "num_local_experts": 8})"), ContainsSubstring(advice("mixtral")));
  CHECK_THAT(refusal(R"({"model_type": "house", "kv_lora_rank": 512})"), ContainsSubstring(advice("deepseek_v3")));
  CHECK_THAT(refusal(R"({"model_type": "house", "hidden_size": 64})"), ContainsSubstring(advice("llama")));
  CHECK_THAT(refusal(R"({"text_config": {"model_type": "house"}})"), ContainsSubstring(advice("llama")));
}

TEST_CASE("A config without model_type and architectures is refused with the types that are known") {
  const std::string words = refusal(R"({"hidden_size": 64})");
  CHECK_THAT(words, ContainsSubstring("model_type is missing"));
  CHECK_THAT(words, ContainsSubstring("expected one of bert bloom"));
  CHECK_THAT(refusal("{}"), ContainsSubstring("model_type is missing"));
  CHECK_THAT(refusal(R"({"architectures": [7]})"), ContainsSubstring("model_type is missing"));
}

TEST_CASE("The class in architectures stands in for a model_type that is unknown") {
  CHECK(refusal(R"({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2})") == "accepted");
  CHECK(
      refusal(R"({"model_type": "house_dialect", "architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": 2})") ==
      "accepted");
  CHECK_THAT(refusal(R"({"architectures": ["LlamaishForCausalLM"]})"), ContainsSubstring("model_type is missing"));
}

TEST_CASE("Line breaks and terminal codes of a file do not reach the message") {
  const std::string words = refusal(R"({"model_type": "a\nb\u001b[31m", "ke\ny": 3})");
  CHECK_THAT(words, ContainsSubstring("unknown model_type \"a?b?[31m\" (keys found: model_type, ke?y)"));
}

TEST_CASE("A misspelt key is refused with its right spelling") {
  CHECK(refusal(R"({"model_type": "llama", "hiden_size": 64})") ==
        "config.json:/hiden_size: unknown key; nearest: hidden_size");
  CHECK(refusal(R"({"model_type": "llama", "num_hidden_layer": 4})") ==
        "config.json:/num_hidden_layer: unknown key; nearest: num_hidden_layers");
  CHECK(refusal(R"({"model_type": "mixtral", "num_experts_per_tko": 4})") ==
        "config.json:/num_experts_per_tko: unknown key; nearest: num_experts_per_tok");
}

TEST_CASE("Keys that do not matter are ignored") {
  CHECK(
      refusal(
          R"({"model_type": "llama", "bos_token_id": 1, "num_hidden_layers": 2, "rope_scaling": {"factor": 8.0}, "my_note": "x"})") ==
      "accepted");
}

TEST_CASE("A config that does not say how many layers there are is refused") {
  for (const std::string type : {"llama", "mixtral", "t5", "vit", "bert"}) {
    CAPTURE(type);
    CHECK_THAT(refusal("{\"model_type\": \"" + type + "\"}"),
               ContainsSubstring("layers is missing; expected how many layers"));
  }
  CHECK(refusal(R"({"model_type": "gpt2", "n_embd": 768})") ==
        "config.json: num_hidden_layers is missing; expected how many layers the network has");
  CHECK_THAT(refusal(R"({"model_type": "llama", "num_hidden_layers": null})"), ContainsSubstring("is missing"));
  // A spelling that is nearly right is the better answer.
  CHECK_THAT(refusal(R"({"model_type": "llama", "num_hiden_layers": 2})"),
             ContainsSubstring("nearest: num_hidden_layers"));
}

TEST_CASE("Numbers that no network has are refused with the range") {
  CHECK(refusal(R"({"model_type": "llama", "num_hidden_layers": 0})") ==
        "config.json:/num_hidden_layers: found an integer 0; expected a whole number from 1 to 100000");
  CHECK_THAT(refusal(R"({"model_type": "llama", "hidden_size": -4096})"), ContainsSubstring("from 1 to 10000000"));
  CHECK_THAT(refusal(R"({"model_type": "llama", "hidden_size": 20000000})"), ContainsSubstring("from 1 to 10000000"));
  CHECK_THAT(refusal(R"({"model_type": "gpt2", "vocab_size": 2000000000})"), ContainsSubstring("from 1 to 1000000000"));
  CHECK_THAT(refusal(R"({"model_type": "gpt2", "n_layer": 100001})"), ContainsSubstring("config.json:/n_layer"));
  CHECK_THAT(refusal(R"({"model_type": "llama", "hidden_size": 1e300})"),
             ContainsSubstring("config.json:/hidden_size"));
  CHECK_THAT(refusal(R"({"model_type": "llama", "hidden_size": "4096"})"), ContainsSubstring("found a string"));
  CHECK_THAT(refusal(R"({"model_type": "gpt2", "attn_pdrop": 1.5})"), ContainsSubstring("a number from 0"));
  CHECK_THAT(refusal(R"({"model_type": 7})"), ContainsSubstring("config.json:/model_type"));
}

TEST_CASE("Products of sensible numbers that no machine could count are refused") {
  const std::string words = refusal(
      R"({"model_type": "mixtral", "hidden_size": 8000000, "num_attention_heads": 64, "intermediate_size": 8000000,
          "num_local_experts": 1000000, "num_hidden_layers": 90000})");
  CHECK_THAT(words, ContainsSubstring("more than 10^16 parameters"));
}

// 12289 / 96 = 128.01: the nearest multiple is 96 * 128 = 12288.
TEST_CASE("A width that the heads do not divide names the nearest that they do") {
  CHECK(refusal(R"({"model_type": "gpt2", "n_embd": 12289, "n_head": 96})") ==
        "config.json:/n_embd: 12289 is not divisible by num_attention_heads (96); nearest: 12288");
  CHECK(refusal(R"({"model_type": "llama", "num_attention_heads": 32, "num_key_value_heads": 7})") ==
        "config.json:/num_attention_heads: 32 is not divisible by num_key_value_heads (7); nearest: 35");
  CHECK(refusal(R"({"model_type": "llama", "hidden_size": 10, "num_attention_heads": 32})") ==
        "config.json:/hidden_size: 10 is not divisible by num_attention_heads (32); nearest: 32");
}

TEST_CASE("More experts per token than there are, and layer lists of the wrong length, are refused") {
  CHECK(refusal(R"({"model_type": "mixtral", "num_experts_per_tok": 9})") ==
        "config.json:/num_experts_per_tok: 9 of 8 experts cannot be chosen; expected at most 8; nearest: 8");
  CHECK_THAT(
      refusal(R"({"model_type": "gemma2", "layer_types": ["full_attention"]})"),
      ContainsSubstring("config.json:/layer_types: names 1 layers; expected one entry for each of the 26 layers"));
  CHECK_THAT(
      refusal(R"({"model_type": "qwen3_next", "layer_types": ["full_attention"]})"),
      ContainsSubstring("config.json:/layer_types: names 1 layers; expected one entry for each of the 48 layers"));
  CHECK_THAT(
      refusal(R"({"model_type": "qwen3_next", "num_hidden_layers": 1, "layer_types": ["sliding_attention"]})"),
      ContainsSubstring("unknown layer type \"sliding_attention\"; expected full_attention or linear_attention"));
  CHECK_THAT(
      refusal(R"({"model_type": "qwen3_next", "linear_num_value_heads": 20})"),
      ContainsSubstring("config.json:/linear_num_value_heads: 20 is not divisible by linear_num_key_heads (16)"));
  CHECK_THAT(refusal(R"({"model_type": "gemma2", "num_hidden_layers": 1, "layer_types": ["ful_attention"]})"),
             ContainsSubstring("nearest: full_attention"));
}

TEST_CASE("Image networks refuse what cannot be built") {
  CHECK_THAT(refusal(R"({"model_type": "vit", "patch_size": 300})"), ContainsSubstring("config.json:/patch_size"));
  CHECK_THAT(refusal(R"({"model_type": "vit", "image_size": [224, 224, 3]})"),
             ContainsSubstring("has 3 numbers; expected 2"));
  CHECK_THAT(refusal(R"({"model_type": "resnet", "depths": [3, 4]})"),
             ContainsSubstring("as many as hidden_sizes (4)"));
  CHECK_THAT(refusal(R"({"model_type": "resnet", "depths": [], "hidden_sizes": []})"), ContainsSubstring("1 to 1000"));
  CHECK_THAT(refusal(R"({"model_type": "resnet", "layer_type": "botleneck"})"),
             ContainsSubstring("nearest: bottleneck"));
}

TEST_CASE("Text that is no JSON object is refused") {
  CHECK_THAT(refusal(R"({"model_type": "llama", "hidden_)"), ContainsSubstring("not valid JSON"));
  CHECK_THAT(refusal("[]"), ContainsSubstring("expected an object"));
  CHECK_THAT(refusal(R"({"text_config": 3, "model_type": "gemma3"})"),
             ContainsSubstring("unknown model_type \"gemma3\""));
}

}  // namespace plumbline
