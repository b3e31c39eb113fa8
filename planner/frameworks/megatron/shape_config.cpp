// Flags as a Hugging Face config.
#include <algorithm>
#include <regex>

#include "planner/frameworks/megatron/shape.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

constexpr std::int64_t largest_number = 1'000'000'000;

/// Of "4095,0" or "(4095,0)": the earlier tokens and its own that a query sees. 0: all, or not alike in every layer.
std::int64_t window(const Json& flags) {
  const Json* const value = flags.find("--window-size");
  if (value == nullptr || flags.find("--window-attn-skip-freq") != nullptr) return 0;
  const std::string said = word(*value);
  static const std::regex sides(R"(\(?(-1|[0-9]{1,9}), ?(-1|[0-9]{1,9})\)?)");
  std::smatch found;
  if (!std::regex_match(said, found, sides))
    throw InputError({"--window-size", "found \"" + said + "\"", "LEFT,RIGHT such as 4095,0, -1 for no bound", ""});
  const bool is_window = found[1] != "-1" && (found[2] == "0" || found[2] == "-1");
  return is_window ? std::stoll(found[1]) + 1 : 0;
}

class Reader {
 public:
  Reader(const Json& flags, std::int64_t tensor_parallel) : flags_(flags), tensor_parallel_(tensor_parallel) {}

  ShapeConfig read() {
    for (const char* const flag : {"--num-layers", "--hidden-size", "--num-attention-heads"})
      if (!has(flag)) return {};
    layers_ = number("--num-layers", 1, 1);
    hidden_ = number("--hidden-size", 1, 1);
    heads_ = number("--num-attention-heads", 1, 1);
    if (is_on("--multi-latent-attention"))
      add_latent();
    else if (has("--num-experts"))
      add_mixture();
    else if (is_gated())
      add_gated();
    else if (is_learned())
      add_gpt();
    else
      add_type("nemotron"), add_biases();
    if (has("--window-size") && !has_window_)
      notes_.emplace_back("--window-size is not priced for this network: attention sees all earlier tokens");
    return {std::move(config_), std::move(notes_)};
  }

 private:
  [[nodiscard]] bool has(const char* flag) const { return flags_.find(flag) != nullptr; }
  [[nodiscard]] bool is_on(const char* flag) const { return has(flag) && megatron::is_on(*flags_.find(flag)); }
  [[nodiscard]] std::int64_t number(const char* flag, std::int64_t when_absent, std::int64_t smallest = 0) const {
    if (!has(flag)) return when_absent;
    try {
      return whole(*flags_.find(flag), smallest, largest_number);
    } catch (const InputError& error) {
      throw InputError({flag, error.problem().what, error.problem().expected, ""});
    }
  }
  [[nodiscard]] std::string text(const char* flag, const char* when_absent) const {
    return has(flag) ? word(*flags_.find(flag)) : when_absent;
  }
  [[nodiscard]] bool is_gated() const { return is_on("--swiglu"); }
  [[nodiscard]] bool is_learned() const {
    return !is_on("--use-rotary-position-embeddings") &&
           text("--position-embedding-type", "learned_absolute") == "learned_absolute";
  }
  [[nodiscard]] bool has_biases() const { return !is_on("--disable-bias-linear"); }
  [[nodiscard]] double real_number(const char* flag, double when_absent) const {
    return has(flag) ? real(*flags_.find(flag)) : when_absent;
  }

  void set(const char* key, Json value) { config_.emplace_back(key, std::move(value)); }

  /// What all types have, by keys that all of them read.
  void add_type(const char* type) {
    set("model_type", type);
    set("num_hidden_layers", layers_);
    set("hidden_size", hidden_);
    set("num_attention_heads", heads_);
    set("num_key_value_heads", is_on("--group-query-attention") ? number("--num-query-groups", 1, 1) : heads_);
    if (has("--kv-channels"))
      set("head_dim", number("--kv-channels", 1, 1));
    else if (hidden_ % heads_ == 0)
      set("head_dim", hidden_ / heads_);
    set("intermediate_size", number("--ffn-hidden-size", default_width()));
    set("max_position_embeddings", number("--max-position-embeddings", number("--seq-length", 2048)));
    set("tie_word_embeddings", !is_on("--untie-embeddings-and-output-weights"));
    set("attention_dropout", real_number("--attention-dropout", 0.1));
    if (has("--rotary-base")) set("rope_theta", real_number("--rotary-base", 10'000));
    add_vocabulary();
  }

  /// transformer_config.py: 4 h, and with gates two thirds of that in whole 64s.
  [[nodiscard]] std::int64_t default_width() const { return is_gated() ? hidden_ * 4 * 2 / 3 / 64 * 64 : 4 * hidden_; }

  void add_vocabulary() {
    if (!has("--vocab-size") && !has("--padded-vocab-size")) {
      notes_.push_back(
          "the vocabulary follows from the tokenizer, which is not in the command: the architecture's usual one is "
          "taken; --vocab-size says it");
      return;
    }
    if (has("--padded-vocab-size")) return set("vocab_size", number("--padded-vocab-size", 1, 1));
    // With NullTokenizer releases before core_v0.18.0 count one more; which one a command is for it does not say.
    const std::int64_t own = number("--vocab-size", 1, 1);
    const std::int64_t unit = std::max<std::int64_t>(1, number("--make-vocab-size-divisible-by", 128)) *
                              std::min(tensor_parallel_, largest_number);
    set("vocab_size", (own + unit - 1) / unit * unit);
  }

  void note_norm() {
    if (text("--normalization", "LayerNorm") != "RMSNorm") notes_.push_back("LayerNorm is priced as RMSNorm");
  }

  /// Of networks whose configs have one window for all layers.
  void add_window() {
    const std::int64_t tokens = window(flags_);
    if (tokens == 0) return;
    set("sliding_window", tokens);
    has_window_ = true;
  }

  void add_gated() {
    const bool norms_heads = is_on("--qk-layernorm");
    const bool has_query_bias = is_on("--add-qkv-bias") && !has_biases();
    const bool is_mistral = window(flags_) > 0 && !norms_heads && !is_on("--add-qkv-bias") && !has_biases();
    add_type(norms_heads ? "qwen3" : has_query_bias ? "qwen2" : is_mistral ? "mistral" : "llama");
    note_norm();
    if (is_mistral) return add_window();
    if (norms_heads)
      set("attention_bias", is_on("--add-qkv-bias") || has_biases());
    else
      add_biases();
  }

  void add_biases() {
    set("mlp_bias", has_biases());
    set("attention_bias", has_biases());
  }

  void add_gpt() {
    add_type("gpt2");
    for (const char* const key : {"resid_pdrop", "embd_pdrop"}) set(key, real_number("--hidden-dropout", 0.1));
    if (!has_biases()) notes_.push_back("--disable-bias-linear: biases of learned positions' networks are priced");
    if (text("--normalization", "LayerNorm") == "RMSNorm") notes_.push_back("RMSNorm is priced as LayerNorm");
  }

  [[nodiscard]] std::int64_t expert_width() const {
    return number("--moe-ffn-hidden-size", number("--ffn-hidden-size", default_width()));
  }

  void add_experts(const char* key) {
    set(key, number("--num-experts", 1, 1));
    set("num_experts_per_tok", number("--moe-router-topk", 2, 1));
    set("moe_intermediate_size", expert_width());
    if (!is_gated()) notes_.push_back("experts without --swiglu are priced with gates");
  }

  /// The first layers dense, the others mixtures: what configs can say.
  void add_dense_layers(const std::vector<bool>& mixtures) {
    const auto first = std::find(mixtures.begin(), mixtures.end(), true);
    if (std::find(first, mixtures.end(), false) != mixtures.end())
      notes_.push_back("--moe-layer-freq: dense layers between mixtures are priced as if they were the first ones");
    const std::int64_t dense = std::count(mixtures.begin(), mixtures.end(), false);
    set("first_k_dense_replace", dense);
  }

  void add_shared() {
    const std::int64_t shared = number("--moe-shared-expert-intermediate-size", 0);
    const std::int64_t width = std::max<std::int64_t>(1, expert_width());
    if (shared % width != 0)
      notes_.push_back("--moe-shared-expert-intermediate-size is priced as the next multiple of the experts' width");
    set("n_shared_experts", (shared + width - 1) / width);
  }

  [[nodiscard]] std::vector<bool> mixtures() const {
    const Json* const frequency = flags_.find("--moe-layer-freq");
    try {
      return mixture_layers(frequency == nullptr ? Json(1) : *frequency, layers_);
    } catch (const InputError& error) {
      throw InputError({"--moe-layer-freq", error.problem().what, error.problem().expected, ""});
    }
  }

  void add_mixture() {
    const std::vector<bool> where = mixtures();
    const bool all = std::find(where.begin(), where.end(), false) == where.end();
    const bool is_plain = all && !has("--moe-shared-expert-intermediate-size") && !is_on("--qk-layernorm") &&
                          !is_on("--add-qkv-bias") && !has_biases();
    note_norm();
    if (is_plain) {
      add_type("mixtral");
      // The width of its experts is that of the dense layers, which it does not have.
      for (auto& [key, value] : config_)
        if (key == "intermediate_size") value = expert_width();
      add_window();
      return add_experts("num_local_experts");
    }
    const bool qwen = all && is_on("--qk-layernorm") && !has("--moe-shared-expert-intermediate-size");
    add_type(qwen ? "qwen3_moe" : "glm4_moe");
    set("attention_bias", is_on("--add-qkv-bias") || has_biases());
    add_experts(qwen ? "num_experts" : "n_routed_experts");
    if (qwen) return;
    set("use_qk_norm", is_on("--qk-layernorm"));
    set("num_nextn_predict_layers", 0);
    add_dense_layers(where);
    add_shared();
  }

  void add_latent() {
    add_type("deepseek_v3");
    note_norm();
    set("q_lora_rank", has("--q-lora-rank") ? Json(number("--q-lora-rank", 0)) : Json());
    set("kv_lora_rank", number("--kv-lora-rank", 32));
    set("qk_nope_head_dim", number("--qk-head-dim", 128));
    set("qk_rope_head_dim", number("--qk-pos-emb-head-dim", 64));
    set("v_head_dim", number("--v-head-dim", 128));
    const std::int64_t extra = number("--mtp-num-layers", 0);
    set("num_nextn_predict_layers", extra);
    if (extra > 0) set("train_nextn_predict_layers", true);
    if (has("--num-experts")) {
      add_experts("n_routed_experts");
      add_dense_layers(mixtures());
      return add_shared();
    }
    set("n_routed_experts", 1);
    set("num_experts_per_tok", 1);
    set("n_shared_experts", 0);
    set("first_k_dense_replace", layers_);
  }

  const Json& flags_;
  std::int64_t tensor_parallel_;
  std::int64_t layers_ = 0, hidden_ = 0, heads_ = 0;
  bool has_window_ = false;  ///< in the config
  Json::Object config_;
  std::vector<std::string> notes_;
};

}  // namespace

ShapeConfig shape_config(const Json& flags, std::int64_t tensor_parallel) {
  return Reader(flags, std::max<std::int64_t>(1, tensor_parallel)).read();
}

}  // namespace plumbline::megatron
