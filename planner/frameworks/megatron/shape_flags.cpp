// A Hugging Face config as flags.
#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "models/import/describe_operators.h"
#include "planner/frameworks/megatron/shape.h"

namespace plumbline::megatron {
namespace {

using Names = std::initializer_list<std::string_view>;

std::int64_t integer(const Json& config, Names names, std::int64_t when_absent) {
  for (const std::string_view name : names)
    if (const Json* const value = config.find(name))
      if (const std::int64_t* const number = value->if_integer()) return *number;
  return when_absent;
}

double real_or(const Json& config, std::string_view name, double when_absent) {
  const Json* const value = config.find(name);
  if (value == nullptr) return when_absent;
  if (const double* const number = value->if_double()) return *number;
  const std::int64_t* const whole = value->if_integer();
  return whole == nullptr ? when_absent : static_cast<double>(*whole);
}

bool boolean(const Json& config, std::string_view name, bool when_absent) {
  const Json* const value = config.find(name);
  return value == nullptr || value->if_bool() == nullptr ? when_absent : *value->if_bool();
}

std::string model_type(const Json& config) {
  const Json* const value = config.find("model_type");
  return value == nullptr || value->if_string() == nullptr ? "" : *value->if_string();
}

bool is_one_of(std::string_view name, Names names) {
  for (const std::string_view one : names)
    if (one == name) return true;
  return false;
}

/// One network's flags as they are put together.
class Writer {
 public:
  Writer(const Json& config, std::int64_t tensor_parallel)
      : config_(config), tensor_parallel_(tensor_parallel), type_(model_type(config)) {}

  ShapeFlags write() {
    if (!is_one_of(type_, {"gpt2", "llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v2",
                           "deepseek_v3", "glm4_moe", "nemotron"})) {
      all_.unsaid.push_back("the network, of model_type '" + type_ +
                            "', is not written as flags: add its own to the arguments");
      return std::move(all_);
    }
    add_widths();
    add_positions();
    type_ == "gpt2" ? add_tied(true) : add_modern();
    if (has_experts(config_)) add_experts();
    add_epsilon();
    add_vocabulary();
    return std::move(all_);
  }

 private:
  void set(const char* flag, Json value) { all_.flags.emplace_back(flag, std::move(value)); }
  void turn_on(const char* flag) { set(flag, true); }
  [[nodiscard]] bool has_latent_attention() const { return type_.starts_with("deepseek"); }

  void add_widths() {
    const std::int64_t hidden = integer(config_, {"hidden_size", "n_embd"}, 0);
    const std::int64_t heads = integer(config_, {"num_attention_heads", "n_head"}, 0);
    set("--num-layers", layers_of_config(config_));
    set("--hidden-size", hidden);
    set("--ffn-hidden-size", integer(config_, {"intermediate_size", "n_inner"}, 4 * hidden));
    set("--num-attention-heads", heads);
    if (has_latent_attention()) return add_latent_attention();
    const std::int64_t groups = integer(config_, {"num_key_value_heads"}, heads);
    if (groups != heads) {
      turn_on("--group-query-attention");
      set("--num-query-groups", groups);
    }
    const bool is_wide = is_one_of(type_, {"qwen3", "qwen3_moe"});
    const std::int64_t channels = integer(config_, {"head_dim"}, is_wide || heads == 0 ? 128 : hidden / heads);
    if (channels * heads != hidden) set("--kv-channels", channels);
  }

  void add_latent_attention() {
    turn_on("--multi-latent-attention");
    const std::int64_t query_rank = integer(config_, {"q_lora_rank"}, 0);
    if (query_rank > 0) set("--q-lora-rank", query_rank);
    set("--kv-lora-rank", integer(config_, {"kv_lora_rank"}, 512));
    set("--qk-head-dim", integer(config_, {"qk_nope_head_dim"}, 128));
    set("--qk-pos-emb-head-dim", integer(config_, {"qk_rope_head_dim"}, 64));
    set("--v-head-dim", integer(config_, {"v_head_dim"}, 128));
    turn_on("--qk-layernorm");
  }

  void add_positions() {
    set("--max-position-embeddings", integer(config_, {"max_position_embeddings", "n_positions"}, 2048));
    if (type_ == "gpt2") return set("--position-embedding-type", "learned_absolute");
    set("--position-embedding-type", "rope");
    // Older configs have rope_theta and rope_scaling, those of transformers 5 both in rope_parameters.
    const Json* const together = config_.find("rope_parameters");
    const Json& place = together != nullptr && together->find("rope_theta") != nullptr ? *together : config_;
    const double base = real_or(place, "rope_theta", type_ == "mixtral" ? 1e6 : 1e4);  // configuration_*.py
    if (base != 1e4 || place.find("rope_theta") != nullptr) set("--rotary-base", static_cast<std::int64_t>(base));
    add_rope_scaling(together != nullptr ? together : config_.find("rope_scaling"));
  }

  /// RotaryEmbedding._apply_scaling of Megatron: the rule of Llama 3.1 with its numbers but for the factor. Latent
  /// attention scales by its own rule (YaRN), whose numbers Megatron has for DeepSeek's.
  void add_rope_scaling(const Json* scaling) {
    if (scaling == nullptr || scaling->if_object() == nullptr || has_latent_attention()) return;
    const Json* const named =
        scaling->find("rope_type") != nullptr ? scaling->find("rope_type") : scaling->find("type");
    const std::string type = named == nullptr || named->if_string() == nullptr ? "default" : *named->if_string();
    if (type == "default") return;
    const bool is_llama = type == "llama3" && real_or(*scaling, "low_freq_factor", 1) == 1 &&
                          real_or(*scaling, "high_freq_factor", 4) == 4 &&
                          integer(*scaling, {"original_max_position_embeddings"}, 8192) == 8192;
    if (!is_llama) {
      all_.unsaid.push_back("the scaling of positions (rope_scaling of type " + type.substr(0, 40) +
                            ") is not written: Megatron-LM has that of Llama 3.1");
      return;
    }
    turn_on("--use-rope-scaling");
    set("--rope-scaling-factor", real_or(*scaling, "factor", 8));
  }

  /// Where it is not Megatron's own 1e-5. Defaults: configuration_*.py of transformers.
  void add_epsilon() {
    const bool has_small =
        is_one_of(type_, {"llama", "mistral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v2", "deepseek_v3"});
    double epsilon = has_small ? 1e-6 : 1e-5;
    const auto* const key = std::find_if(norm_epsilon_keys.begin(), norm_epsilon_keys.end(),
                                         [&](std::string_view each) { return config_.find(each) != nullptr; });
    if (key != norm_epsilon_keys.end()) epsilon = real_or(config_, *key, epsilon);
    if (epsilon != 1e-5) set("--norm-epsilon", epsilon);
  }

  void add_modern() {
    if (type_ == "nemotron")
      turn_on("--squared-relu");
    else
      turn_on("--swiglu"), set("--normalization", "RMSNorm");
    if (!boolean(config_, "mlp_bias", false)) turn_on("--disable-bias-linear");
    if (type_ == "qwen2" || (type_ == "glm4_moe" && boolean(config_, "attention_bias", false)))
      turn_on("--add-qkv-bias");
    if (is_one_of(type_, {"qwen3", "qwen3_moe"}) || boolean(config_, "use_qk_norm", false)) turn_on("--qk-layernorm");
    add_window();
    set("--attention-dropout", 0);
    set("--hidden-dropout", 0);
    add_tied(false);
  }

  /// transformer_config.py: (left, right), earlier and later positions that a query sees next to its own.
  void add_window() {
    if (is_one_of(type_, {"qwen2", "qwen3", "qwen3_moe"})) {
      if (boolean(config_, "use_sliding_window", false))
        all_.unsaid.push_back("the windows of attention (use_sliding_window) are not written");
      return;
    }
    if (!is_one_of(type_, {"mistral", "mixtral"})) return;
    const bool is_absent = config_.find("sliding_window") == nullptr;
    const std::int64_t window = integer(config_, {"sliding_window"}, is_absent && type_ == "mistral" ? 4096 : 0);
    if (window > 0) set("--window-size", std::to_string(window - 1) + ",0");
  }

  void add_tied(bool when_absent) {
    if (!boolean(config_, "tie_word_embeddings", when_absent)) turn_on("--untie-embeddings-and-output-weights");
  }

  void add_experts() {
    const std::int64_t width = integer(config_, {"moe_intermediate_size"}, integer(config_, {"intermediate_size"}, 0));
    set("--num-experts", integer(config_, {"num_local_experts", "num_experts", "n_routed_experts"}, 8));
    set("--moe-router-topk", integer(config_, {"num_experts_per_tok"}, 2));
    set("--moe-ffn-hidden-size", width);
    const std::int64_t shared = integer(config_, {"n_shared_experts"}, 0);
    if (shared > 0) set("--moe-shared-expert-intermediate-size", shared * width);
    add_layer_frequency();
    turn_on("--moe-grouped-gemm");
    set("--moe-token-dispatcher-type", "alltoall");
    if (has_latent_attention() || type_ == "glm4_moe") add_router();
    if (const std::int64_t extra = integer(config_, {"num_nextn_predict_layers"}, 0);
        extra > 0 && boolean(config_, "train_nextn_predict_layers", false))
      set("--mtp-num-layers", extra);
  }

  /// How experts are scored, scaled and chosen by groups. Defaults: configuration_deepseek_v2.py, _v3.py and
  /// configuration_glm4_moe.py of transformers.
  void add_router() {
    const bool is_second = type_ == "deepseek_v2";  // softmax over all experts, not of the chosen ones
    if (is_second)
      turn_on("--moe-router-pre-softmax");
    else
      set("--moe-router-score-function", "sigmoid"), turn_on("--moe-router-enable-expert-bias");
    const double scale = real_or(config_, "routed_scaling_factor", type_ == "deepseek_v3" ? 2.5 : 1);
    if (scale != 1) set("--moe-router-topk-scaling-factor", scale);
    const std::int64_t groups = integer(config_, {"n_group"}, type_ == "deepseek_v3" ? 8 : 1);
    if (groups <= 1) return;
    set("--moe-router-num-groups", groups);
    set("--moe-router-group-topk", integer(config_, {"topk_group"}, type_ == "deepseek_v3" ? 4 : 1));
  }

  void add_layer_frequency() {
    const std::int64_t dense = integer(config_, {"first_k_dense_replace"}, 0);
    const std::int64_t layers = layers_of_config(config_);
    if (dense > 0)
      set("--moe-layer-freq", "([0]*" + std::to_string(dense) + "+[1]*" + std::to_string(layers - dense) + ")");
    const std::int64_t step = integer(config_, {"decoder_sparse_step"}, 1);
    if (step > 1)
      set("--moe-layer-freq", "(([0]*" + std::to_string(step - 1) + "+[1])*" + std::to_string(layers / step) + "+[0]*" +
                                  std::to_string(layers % step) + ")");
    const Json* const dense_layers = config_.find("mlp_only_layers");
    if (dense_layers != nullptr && dense_layers->if_array() != nullptr && !dense_layers->if_array()->empty())
      all_.unsaid.push_back("the dense layers of mlp_only_layers are not written");
  }

  void add_vocabulary() {
    const std::int64_t vocabulary = integer(config_, {"vocab_size"}, type_ == "gpt2" ? 50257 : 32000);
    set("--tokenizer-type", "NullTokenizer");
    set("--vocab-size", vocabulary);  // of older releases one less (releases.cpp)
    std::int64_t divisor = 128;
    while (divisor > 1 && vocabulary % (divisor * tensor_parallel_) != 0) divisor /= 2;
    if (divisor < 128) set("--make-vocab-size-divisible-by", divisor);
  }

  const Json& config_;
  std::int64_t tensor_parallel_;
  std::string type_;
  ShapeFlags all_;
};

}  // namespace

ShapeFlags shape_flags(const Json& config, std::int64_t tensor_parallel) {
  return Writer(config, tensor_parallel < 1 ? 1 : tensor_parallel).write();
}

std::int64_t layers_of_config(const Json& config) { return integer(config, {"num_hidden_layers", "n_layer"}, 0); }

bool has_experts(const Json& config) {
  return integer(config, {"num_local_experts", "num_experts", "n_routed_experts"}, 0) > 0;
}

}  // namespace plumbline::megatron
