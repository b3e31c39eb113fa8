#include "core/graph/operator_constants.h"

#include "models/import/hugging_face.h"
#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

OperatorConstants constants(std::string_view text) {
  const Json json = parse_json(text, "config.json");
  return import_hugging_face(JsonPlace(json, "config.json"), "net", LayerCount::stated_or_default).constants;
}

/// What of a config is not executed, line by line.
std::vector<std::string> beyond(std::string_view text) {
  std::vector<std::string> lines;
  for (const InputProblem& problem : constants(text).not_executed) lines.push_back(to_text(problem));
  return lines;
}
using Lines = std::vector<std::string>;

}  // namespace

// Defaults: configuration_llama.py, configuration_mixtral.py, configuration_gpt2.py of transformers 5.23.
TEST_CASE("Epsilon and rotary base are the config's, or its architecture's") {
  CHECK(constants(R"({"model_type": "llama"})").norm_epsilon == 1e-6F);
  CHECK(constants(R"({"model_type": "gpt2"})").norm_epsilon == 1e-5F);
  CHECK(constants(R"({"model_type": "llama", "rms_norm_eps": 1e-5})").norm_epsilon == 1e-5F);
  CHECK(constants(R"({"model_type": "llama"})").rotary.base == 10000);
  CHECK(constants(R"({"model_type": "mixtral"})").rotary.base == 1e6);
  CHECK(constants(R"({"model_type": "llama", "rope_theta": 500000})").rotary.base == 5e5);
  CHECK(constants(R"({"model_type": "gpt_neox", "rotary_emb_base": 5000})").rotary.base == 5000);
  CHECK(constants(R"({"model_type": "llama", "rope_parameters": {"rope_theta": 500.0}})").rotary.base == 500);
}

TEST_CASE("Each place has its own probability of dropout") {
  const DropoutConstants gpt =
      constants(R"({"model_type": "gpt2", "resid_pdrop": 0.2, "attn_pdrop": 0.3, "embd_pdrop": 0.05})").dropout;
  CHECK(gpt.residual == 0.2F);
  CHECK(gpt.attention == 0.3F);
  CHECK(gpt.embedding == 0.05F);
  CHECK(constants(R"({"model_type": "gpt2", "resid_pdrop": 0.2})").dropout.attention == 0.1F);
  // GPTNeoXModel drops embeddings with hidden_dropout.
  CHECK(constants(R"({"model_type": "gpt_neox", "hidden_dropout": 0.2})").dropout.embedding == 0.2F);
}

// activations.py: gelu is erf's, gelu_new, gelu_fast and gelu_pytorch_tanh are tanh's.
TEST_CASE("The activation is the config's, or its architecture's") {
  CHECK(constants(R"({"model_type": "gpt2"})").activation == Activation::gelu_tanh);
  CHECK(constants(R"({"model_type": "gpt2", "activation_function": "gelu"})").activation == Activation::gelu_erf);
  CHECK(constants(R"({"model_type": "gpt2", "activation_function": "gelu_fast"})").activation == Activation::gelu_tanh);
  CHECK(constants(R"({"model_type": "gpt_neox"})").activation == Activation::gelu_erf);
  CHECK(constants(R"({"model_type": "falcon"})").activation == Activation::gelu_erf);
  CHECK(constants(R"({"model_type": "phi"})").activation == Activation::gelu_tanh);
  CHECK(constants(R"({"model_type": "opt"})").activation == Activation::relu);
}

TEST_CASE("Part of a head is rotated where the config or its architecture says so") {
  CHECK(constants(R"({"model_type": "llama"})").rotary.rotated == 1.0);
  CHECK(constants(R"({"model_type": "gpt_neox"})").rotary.rotated == 0.25);
  CHECK(constants(R"({"model_type": "gpt_neox", "rotary_pct": 1.0})").rotary.rotated == 1.0);
  CHECK(constants(R"({"model_type": "phi"})").rotary.rotated == 0.5);
  CHECK(constants(R"({"model_type": "phi", "partial_rotary_factor": 0.4})").rotary.rotated == 0.4);
  CHECK(constants(R"({"model_type": "phi3", "rope_parameters": {"partial_rotary_factor": 0.75}})").rotary.rotated ==
        0.75);
}

TEST_CASE("Rotary scaling is read in the words of transformers 4 and 5") {
  const RotaryConstants linear =
      constants(R"({"model_type": "llama", "rope_scaling": {"type": "linear", "factor": 4.0}})").rotary;
  CHECK(linear.scaling == RotaryScaling::linear);
  CHECK(linear.factor == 4);
  const RotaryConstants llama3 = constants(R"({"model_type": "llama", "rope_theta": 500000, "rope_scaling":
      {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
       "rope_type": "llama3"}})")
                                     .rotary;
  CHECK(llama3.scaling == RotaryScaling::llama3);
  CHECK(llama3.base == 500000);
  CHECK(llama3.factor == 8);
  CHECK(llama3.low_frequency_turns == 1);
  CHECK(llama3.high_frequency_turns == 4);
  CHECK(llama3.original_positions == 8192);
  const RotaryConstants plain =
      constants(R"({"model_type": "llama", "rope_parameters": {"rope_type": "default", "factor": 2.0}})").rotary;
  CHECK(plain.scaling == RotaryScaling::none);
}

TEST_CASE("Weights of experts are normalised where the config or its architecture says so") {
  CHECK(constants(R"({"model_type": "mixtral"})").expert_weights == ExpertWeights::normalised);
  CHECK(constants(R"({"model_type": "qwen3_moe"})").expert_weights == ExpertWeights::probability);
  CHECK(constants(R"({"model_type": "qwen3_moe", "norm_topk_prob": true})").expert_weights ==
        ExpertWeights::normalised);
}

TEST_CASE("What a config asks for and no operator does is listed with its place") {
  CHECK(beyond(R"({"model_type": "llama"})").empty());
  CHECK(beyond(R"({"model_type": "llama", "rope_scaling": {"type": "yarn", "factor": 4.0}})") ==
        Lines{"config.json:/rope_scaling: rotary scaling of type \"yarn\" is not executed; expected default, linear or "
              "llama3"});
  CHECK(beyond(R"({"model_type": "llama", "rope_scaling": {"rope_type": "llama3", "factor": 8.0}})") ==
        Lines{"config.json:/rope_scaling: rotary scaling of type llama3 without its factors is not executed; expected "
              "factor, and for llama3 low_freq_factor below high_freq_factor"});
  CHECK(beyond(R"({"model_type": "gpt2", "activation_function": "quick_gelu"})") ==
        Lines{"config.json:/activation_function: the activation quick_gelu is not executed; expected gelu, gelu_new, "
              "gelu_fast, gelu_pytorch_tanh or relu"});
  CHECK(beyond(R"({"model_type": "llama", "hidden_act": "gelu"})") ==
        Lines{"config.json:/hidden_act: a gate of gelu is not executed; expected silu"});
  CHECK(beyond(R"({"model_type": "llama", "residual_multiplier": 0.22, "attention_multiplier": 0.0078125})") ==
        Lines{"config.json:/attention_multiplier: attention with another scale is not executed; expected "
              "attention_multiplier null",
              "config.json:/residual_multiplier: a multiplier of residuals is not executed; expected "
              "residual_multiplier 1"});
  CHECK(beyond(R"({"model_type": "falcon", "hidden_dropout": 0.1})").size() == 1);
  CHECK(beyond(R"({"model_type": "gpt2", "resid_pdrop": 1.0})").size() == 1);
}

TEST_CASE("Values that mean the plain network are none of that") {
  CHECK(beyond(R"({"model_type": "mixtral", "router_jitter_noise": 0.0, "output_router_logits": false,
                   "num_nextn_predict_layers": 0, "hidden_act": "swish"})")
            .empty());
  CHECK(beyond(R"({"model_type": "gpt2", "scale_attn_weights": true, "add_cross_attention": false})").empty());
  CHECK(beyond(R"({"model_type": "falcon", "alibi": false})").empty());
  CHECK(beyond(R"({"model_type": "llama", "final_logit_softcapping": null})").empty());
}

TEST_CASE("The text for fingerprints differs with each constant") {
  std::vector<std::string> texts{canonical_text({})};
  const auto add = [&](auto change) {
    OperatorConstants c;
    change(c);
    texts.push_back(canonical_text(c));
  };
  add([](OperatorConstants& c) { c.dropout.embedding = 0.2F; });
  add([](OperatorConstants& c) { c.dropout.attention = 0.2F; });
  add([](OperatorConstants& c) { c.dropout.residual = 0.2F; });
  add([](OperatorConstants& c) { c.rotary.base = 500000; });
  add([](OperatorConstants& c) { c.rotary.rotated = 0.5; });
  add([](OperatorConstants& c) { c.rotary.scaling = RotaryScaling::linear; });
  add([](OperatorConstants& c) { c.rotary.factor = 8; });
  add([](OperatorConstants& c) { c.rotary.low_frequency_turns = 2; });
  add([](OperatorConstants& c) { c.rotary.high_frequency_turns = 8; });
  add([](OperatorConstants& c) { c.rotary.original_positions = 4096; });
  add([](OperatorConstants& c) { c.norm_epsilon = 1e-6F; });
  add([](OperatorConstants& c) { c.activation = Activation::relu; });
  add([](OperatorConstants& c) { c.expert_weights = ExpertWeights::probability; });
  add([](OperatorConstants& c) { c.first_position = 2; });
  std::sort(texts.begin(), texts.end());
  CHECK(std::adjacent_find(texts.begin(), texts.end()) == texts.end());
}

TEST_CASE("Networks of the catalogue that no operator computes are known") {
  for (const std::string name : {"gemma-3-270m", "bloom-560m", "deepseek-v2-lite", "gpt-oss-20b", "glm-4.5-air",
                                 "llama-4-scout", "nemotron-8b", "bert-base", "phi-4-mini", "t5-small",
                                 "vit-base-patch16-224", "resnet-50", "qwen1.5-moe-a2.7b", "qwen3-next-80b-a3b"}) {
    INFO(name);
    CHECK_FALSE(find_network(name).constants.not_executed.empty());
  }
  for (const std::string name : {"gpt2", "llama-3-8b", "llama-3.2-1b", "opt-125m", "pythia-70m", "phi-2", "falcon-7b",
                                 "qwen3-0.6b", "qwen3-30b-a3b", "mixtral-8x7b", "mistral-7b", "nano-gpt"}) {
    INFO(name);
    CHECK(find_network(name).constants.not_executed.empty());
  }
}

}  // namespace plumbline
