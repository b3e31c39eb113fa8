#include "tests/campaign/random_network.h"

#include <map>
#include <mutex>

#include "core/base/errors.h"
#include "models/network_catalog.h"
#include "models/network_file.h"

namespace plumbline {
namespace {

/// Parsed once: what is drawn a thousand times is read from text once.
std::shared_ptr<const Network> catalogued(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Network>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Network>& network = known[name];
  if (!network) network = std::make_shared<const Network>(find_network(name));
  return network;
}

/// What the layers of most families say of themselves.
struct Widths {
  std::int64_t layers, heads, kv_heads, head_dim, width, vocabulary;
  [[nodiscard]] std::int64_t hidden() const { return heads * head_dim; }
};

Widths random_widths(Draw& draw) {
  Widths s{};
  s.layers = draw.small(1, draw.one_in(8) ? 100 : 24);
  s.heads = draw.one_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 25, 28, 32, 36, 40, 48, 64});
  s.kv_heads = draw.one_in(2) ? s.heads : draw.one_of(divisors_of(s.heads));
  s.head_dim = draw.one_of({4, 8, 10, 16, 20, 22, 32, 40, 48, 64, 80, 96, 128, 160, 256});
  const std::int64_t unit = draw.one_of({1, 2, 3, 4, 8, 12, 60, 64, 128});
  s.width = std::max<std::int64_t>(unit, s.hidden() * draw.between(2, 16) / 4 / unit * unit);
  s.vocabulary = draw.one_of({97, 256, 1000, 8192, 30522, 32000, 50257, 50304, 128256, 262144});
  s.vocabulary += draw.small(0, 7);
  return s;
}

Json::Object with(std::string_view type, Json::Object object) {
  object.emplace(object.begin(), "model_type", Json(type));
  return object;
}

Json::Object gpt2(const Widths& s, Draw& draw) {
  return with("gpt2", {{"n_embd", s.hidden()},
                       {"n_layer", s.layers},
                       {"n_head", s.heads},
                       {"n_inner", s.width},
                       {"n_positions", draw.one_of<std::int64_t>({512, 1024, 2048})},
                       {"vocab_size", s.vocabulary}});
}

Json::Object llama_like(std::string_view type, const Widths& s, Draw& draw) {
  Json::Object config{{"hidden_size", s.hidden()},
                      {"intermediate_size", s.width},
                      {"num_hidden_layers", s.layers},
                      {"num_attention_heads", s.heads},
                      {"max_position_embeddings", draw.one_of<std::int64_t>({512, 2048, 8192, 131072})},
                      {"vocab_size", s.vocabulary},
                      {"tie_word_embeddings", draw.one_in(2)}};
  if (type != "gpt_neox") config.emplace_back("num_key_value_heads", s.kv_heads);
  return with(type, std::move(config));
}

Json::Object mixture(std::string_view type, const Widths& s, Draw& draw) {
  Json::Object config = llama_like(type, s, draw);
  const std::int64_t experts = draw.one_of<std::int64_t>({2, 3, 4, 5, 6, 8, 12, 15, 16, 24, 60, 64, 128});
  config.emplace_back("num_experts_per_tok", draw.between(1, std::min<std::int64_t>(experts, 8)));
  config.emplace_back(type == "mixtral" ? "num_local_experts" : "num_experts", experts);
  if (type == "mixtral") return config;
  config.emplace_back("moe_intermediate_size", std::max<std::int64_t>(1, s.width / draw.between(1, 8)));
  if (type == "qwen2_moe") config.emplace_back("shared_expert_intermediate_size", s.width);
  return config;
}

Json::Object latent(const Widths& s, Draw& draw) {
  return with("deepseek_v2", {{"hidden_size", s.hidden()},
                              {"intermediate_size", s.width},
                              {"moe_intermediate_size", std::max<std::int64_t>(1, s.width / 4)},
                              {"num_hidden_layers", s.layers},
                              {"num_attention_heads", s.heads},
                              {"num_key_value_heads", s.heads},
                              {"q_lora_rank", draw.one_in(2) ? Json(nullptr) : Json(draw.between(8, 1536))},
                              {"kv_lora_rank", draw.between(8, 512)},
                              {"qk_nope_head_dim", s.head_dim},
                              {"qk_rope_head_dim", draw.one_of<std::int64_t>({8, 32, 64})},
                              {"v_head_dim", s.head_dim},
                              {"n_routed_experts", draw.one_of<std::int64_t>({4, 6, 16, 60, 64})},
                              {"n_shared_experts", draw.between(0, 2)},
                              {"num_experts_per_tok", draw.between(1, 4)},
                              {"first_k_dense_replace", draw.between(0, s.layers)},
                              {"vocab_size", s.vocabulary},
                              {"max_position_embeddings", std::int64_t{4096}}});
}

Json::Object encoder(std::string_view type, const Widths& s, Draw& draw) {
  if (type == "t5")
    return with(type, {{"d_model", s.hidden()},
                       {"d_ff", s.width},
                       {"num_layers", s.layers},
                       {"num_decoder_layers", draw.small(1, 24)},
                       {"num_heads", s.heads},
                       {"d_kv", s.head_dim},
                       {"vocab_size", s.vocabulary},
                       {"is_encoder_decoder", true}});
  if (type == "vit")
    return with(type, {{"hidden_size", s.hidden()},
                       {"intermediate_size", s.width},
                       {"num_hidden_layers", s.layers},
                       {"num_attention_heads", s.heads},
                       {"image_size", draw.one_of<std::int64_t>({224, 336, 384})},
                       {"patch_size", draw.one_of<std::int64_t>({14, 16, 32})},
                       {"num_labels", draw.small(2, 1000)}});
  return with(type, {{"hidden_size", s.hidden()},
                     {"intermediate_size", s.width},
                     {"num_hidden_layers", s.layers},
                     {"num_attention_heads", s.heads},
                     {"max_position_embeddings", std::int64_t{512}},
                     {"vocab_size", s.vocabulary}});
}

Json::Object opt(const Widths& s, Draw& draw) {
  return with("opt", {{"hidden_size", s.hidden()},
                      {"ffn_dim", s.width},
                      {"num_hidden_layers", s.layers},
                      {"num_attention_heads", s.heads},
                      {"word_embed_proj_dim", draw.one_in(4) ? std::max<std::int64_t>(1, s.hidden() / 2) : s.hidden()},
                      {"max_position_embeddings", std::int64_t{2048}},
                      {"vocab_size", s.vocabulary}});
}

}  // namespace

Json::Object random_config(Draw& draw) {
  const Widths shape = random_widths(draw);
  switch (draw.between(0, 9)) {
    case 0: return gpt2(shape, draw);
    case 1: return opt(shape, draw);
    case 2: return llama_like("gpt_neox", shape, draw);
    case 3: return llama_like("qwen2", shape, draw);
    case 4: return mixture("mixtral", shape, draw);
    case 5: return mixture("qwen2_moe", shape, draw);
    case 6: return mixture("qwen3_moe", shape, draw);
    case 7: return latent(shape, draw);
    case 8: return encoder(draw.one_of<const char*>({"t5", "bert", "vit"}), shape, draw);
    default: return llama_like("llama", shape, draw);
  }
}

DrawnNetwork random_network(Draw& draw) {
  if (!draw.one_in(3)) {
    static const std::vector<std::string> names = network_names();
    const std::string& name = draw.one_of(names);
    return {catalogued(name), name, std::nullopt};
  }
  while (true) {
    const Json config(random_config(draw));
    try {
      return {std::make_shared<const Network>(read_network(JsonPlace(config, "config"), "drawn")), "", config};
    } catch (const InputError&) {
      continue;  // widths that this family does not take
    }
  }
}

}  // namespace plumbline
