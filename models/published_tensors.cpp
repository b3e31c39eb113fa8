#include "models/published_tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// How the parameters of a rule share a tensor.
enum class Joined : std::uint8_t { alone, by_rows, by_heads, transposed, transposed_by_rows };

/// `parts` are parameters without ".weight" or ".bias"; in the published name '*' stands for the expert.
struct Rule {
  std::string_view published;
  std::array<std::string_view, 3> parts;
  Joined joined = Joined::alone;
};

struct Family {
  std::string_view model_type;
  std::string_view layer_prefix;
  std::span<const Rule> layer;
  std::span<const Rule> ends;  ///< embeddings and head, with their whole names
};

constexpr Rule llama_ends[] = {
    {"model.embed_tokens", {"input.embedding"}}, {"model.norm", {"output.final_norm"}}, {"lm_head", {"output.head"}}};
constexpr Rule llama_layer[] = {{"input_layernorm", {"attention.norm"}},
                                {"post_attention_layernorm", {"mlp.norm"}},
                                {"self_attn.q_proj", {"attention.qkv.q"}},
                                {"self_attn.k_proj", {"attention.qkv.k"}},
                                {"self_attn.v_proj", {"attention.qkv.v"}},
                                {"self_attn.o_proj", {"attention.output"}},
                                {"self_attn.q_norm", {"attention.q_norm"}},
                                {"self_attn.k_norm", {"attention.k_norm"}},
                                {"mlp.gate_proj", {"mlp.gate_up.gate"}},
                                {"mlp.up_proj", {"mlp.gate_up.up"}},
                                {"mlp.down_proj", {"mlp.down"}},
                                {"mlp.gate", {"experts.router"}},
                                {"mlp.experts.*.gate_proj", {"experts.gate_up.gate"}},
                                {"mlp.experts.*.up_proj", {"experts.gate_up.up"}},
                                {"mlp.experts.*.down_proj", {"experts.down"}}};
constexpr Rule mixtral_layer[] = {{"input_layernorm", {"attention.norm"}},
                                  {"post_attention_layernorm", {"mlp.norm"}},
                                  {"self_attn.q_proj", {"attention.qkv.q"}},
                                  {"self_attn.k_proj", {"attention.qkv.k"}},
                                  {"self_attn.v_proj", {"attention.qkv.v"}},
                                  {"self_attn.o_proj", {"attention.output"}},
                                  {"block_sparse_moe.gate", {"experts.router"}},
                                  {"block_sparse_moe.experts.*.w1", {"experts.gate_up.gate"}},
                                  {"block_sparse_moe.experts.*.w3", {"experts.gate_up.up"}},
                                  {"block_sparse_moe.experts.*.w2", {"experts.down"}}};
constexpr Rule phi3_layer[] = {
    {"input_layernorm", {"attention.norm"}},
    {"post_attention_layernorm", {"mlp.norm"}},
    {"self_attn.qkv_proj", {"attention.qkv.q", "attention.qkv.k", "attention.qkv.v"}, Joined::by_rows},
    {"self_attn.o_proj", {"attention.output"}},
    {"mlp.gate_up_proj", {"mlp.gate_up.gate", "mlp.gate_up.up"}, Joined::by_rows},
    {"mlp.down_proj", {"mlp.down"}}};
constexpr Rule phi_ends[] = {{"model.embed_tokens", {"input.embedding"}},
                             {"model.final_layernorm", {"output.final_norm"}},
                             {"lm_head", {"output.head"}}};
constexpr Rule phi_layer[] = {{"input_layernorm", {"norm"}},
                              {"self_attn.q_proj", {"attention.qkv.q"}},
                              {"self_attn.k_proj", {"attention.qkv.k"}},
                              {"self_attn.v_proj", {"attention.qkv.v"}},
                              {"self_attn.dense", {"attention.output"}},
                              {"self_attn.q_layernorm", {"attention.q_norm"}},
                              {"self_attn.k_layernorm", {"attention.k_norm"}},
                              {"mlp.fc1", {"mlp.up"}},
                              {"mlp.fc2", {"mlp.down"}}};
constexpr Rule gpt2_ends[] = {{"transformer.wte", {"input.embedding"}},
                              {"transformer.wpe", {"input.positions"}},
                              {"transformer.ln_f", {"output.final_norm"}},
                              {"lm_head", {"output.head"}}};
constexpr Rule gpt2_layer[] = {
    {"ln_1", {"attention.norm"}},
    {"ln_2", {"mlp.norm"}},
    {"attn.c_attn", {"attention.qkv.q", "attention.qkv.k", "attention.qkv.v"}, Joined::transposed_by_rows},
    {"attn.c_proj", {"attention.output"}, Joined::transposed},
    {"mlp.c_fc", {"mlp.up"}, Joined::transposed},
    {"mlp.c_proj", {"mlp.down"}, Joined::transposed}};
constexpr Rule neox_ends[] = {{"gpt_neox.embed_in", {"input.embedding"}},
                              {"gpt_neox.final_layer_norm", {"output.final_norm"}},
                              {"embed_out", {"output.head"}}};
constexpr Rule neox_layer[] = {
    {"input_layernorm", {"attention.norm"}},
    {"post_attention_layernorm", {"mlp.norm"}},
    {"attention.query_key_value", {"attention.qkv.q", "attention.qkv.k", "attention.qkv.v"}, Joined::by_heads},
    {"attention.dense", {"attention.output"}},
    {"mlp.dense_h_to_4h", {"mlp.up"}},
    {"mlp.dense_4h_to_h", {"mlp.down"}}};
constexpr Rule falcon_ends[] = {{"transformer.word_embeddings", {"input.embedding"}},
                                {"transformer.ln_f", {"output.final_norm"}},
                                {"lm_head", {"output.head"}}};
// Layers with one norm alone: of two norms the names depend on how their parts are joined.
constexpr Rule falcon_layer[] = {
    {"input_layernorm", {"norm"}},
    {"self_attention.query_key_value", {"attention.qkv.q", "attention.qkv.k", "attention.qkv.v"}, Joined::by_heads},
    {"self_attention.dense", {"attention.output"}},
    {"mlp.dense_h_to_4h", {"mlp.up"}},
    {"mlp.dense_4h_to_h", {"mlp.down"}}};
constexpr Rule opt_ends[] = {{"model.decoder.embed_tokens", {"input.embedding"}},
                             {"model.decoder.embed_positions", {"input.positions"}},
                             {"model.decoder.project_in", {"input.embedding.projection"}},
                             {"model.decoder.project_out", {"output.head.projection"}},
                             {"model.decoder.final_layer_norm", {"output.final_norm"}},
                             {"lm_head", {"output.head"}}};
constexpr Rule opt_layer[] = {{"self_attn_layer_norm", {"attention.norm"}},
                              {"final_layer_norm", {"mlp.norm"}},
                              {"self_attn.q_proj", {"attention.qkv.q"}},
                              {"self_attn.k_proj", {"attention.qkv.k"}},
                              {"self_attn.v_proj", {"attention.qkv.v"}},
                              {"self_attn.out_proj", {"attention.output"}},
                              {"fc1", {"mlp.up"}},
                              {"fc2", {"mlp.down"}}};
constexpr Family families[] = {
    {"llama", "model.layers.", llama_layer, llama_ends},     {"mistral", "model.layers.", llama_layer, llama_ends},
    {"qwen2", "model.layers.", llama_layer, llama_ends},     {"qwen3", "model.layers.", llama_layer, llama_ends},
    {"qwen3_moe", "model.layers.", llama_layer, llama_ends}, {"mixtral", "model.layers.", mixtral_layer, llama_ends},
    {"phi3", "model.layers.", phi3_layer, llama_ends},       {"phi", "model.layers.", phi_layer, phi_ends},
    {"gpt2", "transformer.h.", gpt2_layer, gpt2_ends},       {"gpt_neox", "gpt_neox.layers.", neox_layer, neox_ends},
    {"falcon", "transformer.h.", falcon_layer, falcon_ends}, {"opt", "model.decoder.layers.", opt_layer, opt_ends}};

constexpr std::string_view adapter_prefix = "base_model.model.";  // PEFT's wrapper of the network

/// "layers.3.mlp.down.lora_a.weight" in its pieces.
struct ParameterName {
  std::string layer;   ///< "3"; empty: an embedding or the head
  std::string module;  ///< "mlp.down"
  std::string lora;    ///< "lora_a" or "lora_b"; empty: no adapter
  std::string kind;    ///< "weight" or "bias"
};

ParameterName split(const std::string& name) {
  ParameterName parts;
  std::string rest = name;
  if (rest.starts_with("layers.")) {
    const std::size_t end = rest.find('.', 7);
    parts.layer = rest.substr(7, end - 7);
    rest = rest.substr(end + 1);
  }
  const std::size_t dot = rest.rfind('.');
  check(dot != std::string::npos, "a parameter's name ends in weight or bias");
  parts.kind = rest.substr(dot + 1);
  rest.resize(dot);
  for (const std::string_view lora : {"lora_a", "lora_b"})
    if (rest.ends_with("." + std::string(lora))) {
      parts.lora = lora;
      rest.resize(rest.size() - lora.size() - 1);
    }
  parts.module = rest;
  return parts;
}

std::int64_t rows_of(const WholeParameter& p) { return p.dimensions == 1 ? p.shape[2] : p.shape[0] * p.shape[1]; }
std::int64_t columns_of(const WholeParameter& p) { return p.dimensions == 1 ? 1 : p.shape[2]; }

std::vector<std::int64_t> shape_of(const WholeParameter& p) { return {p.shape.end() - p.dimensions, p.shape.end()}; }

/// One parameter, row-major.
TensorPart whole(const WholeParameter& p) {
  TensorPart part{p.name};
  part.rows_together = std::max<std::int64_t>(1, rows_of(p));
  part.row_stride = columns_of(p);
  return part;
}

PublishedTensor alone(std::string name, const WholeParameter& p) {
  return {std::move(name), shape_of(p), {whole(p)}, false};
}

/// `name` has a '*'.
void add_experts(std::vector<PublishedTensor>& tensors, const std::string& name, const WholeParameter& p) {
  const std::size_t star = name.find('*');
  for (std::int64_t expert = 0; expert < p.shape[0]; ++expert) {
    TensorPart part = whole(p);
    part.expert = expert;
    tensors.push_back({name.substr(0, star) + std::to_string(expert) + name.substr(star + 1),
                       {p.shape[1], p.shape[2]},
                       {part},
                       false});
  }
}

/// Matrices of as many columns, one below the other.
PublishedTensor stacked(std::string name, const std::vector<const WholeParameter*>& parameters) {
  PublishedTensor tensor{std::move(name), {}, {}, false};
  std::int64_t rows = 0;
  for (const WholeParameter* p : parameters) {
    TensorPart part = whole(*p);
    part.first = rows * columns_of(*p);
    rows += rows_of(*p);
    tensor.parts.push_back(part);
  }
  tensor.shape = shape_of(*parameters.front());
  tensor.shape.front() = rows;
  return tensor;
}

/// For each key's head: the queries that read it, the key, the value.
std::optional<PublishedTensor> interleaved(std::string name, const std::vector<const WholeParameter*>& parameters) {
  const std::int64_t groups = parameters[1]->heads;
  std::int64_t together = 0;  // rows of a group
  for (const WholeParameter* p : parameters) {
    if (groups == 0 || rows_of(*p) % groups != 0) return std::nullopt;
    together += rows_of(*p) / groups;
  }
  PublishedTensor tensor = stacked(std::move(name), parameters);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    TensorPart& part = tensor.parts[i];
    part.rows_together = rows_of(*parameters[i]) / groups;
    part.first = before * part.row_stride;
    part.group_stride = together * part.row_stride;
    before += part.rows_together;
  }
  return tensor;
}

PublishedTensor transposed(PublishedTensor tensor) {
  if (tensor.shape.size() == 1) return tensor;
  const std::int64_t rows = tensor.shape[0];
  const std::int64_t columns = tensor.shape[1];
  for (TensorPart& part : tensor.parts) {
    part.first /= columns;
    part.row_stride = 1;
    part.column_stride = rows;
  }
  tensor.shape = {columns, rows};
  return tensor;
}

/// Names one parameter after the other; nothing as soon as one has no rule.
class Publisher {
 public:
  Publisher(const Family& family, const std::vector<WholeParameter>& parameters)
      : family_(family), parameters_(parameters) {
    for (const WholeParameter& p : parameters) by_name_[p.name] = &p;
  }

  std::optional<std::vector<PublishedTensor>> tensors() {
    for (const WholeParameter& p : parameters_)
      if (!add(p)) return std::nullopt;
    return std::move(tensors_);
  }
  [[nodiscard]] bool has_adapter_names() const { return adapters_ > 0 && adapters_ == named_adapters_; }

 private:
  [[nodiscard]] std::string published(const Rule& rule, const ParameterName& name) const {
    const std::string place = name.layer.empty() ? "" : std::string(family_.layer_prefix) + name.layer + ".";
    return place + std::string(rule.published);
  }

  bool add(const WholeParameter& p) {
    const ParameterName name = split(p.name);
    const auto rules = name.layer.empty() ? family_.ends : family_.layer;
    for (const Rule& rule : rules) {
      const auto part = std::find(rule.parts.begin(), rule.parts.end(), name.module);
      if (part == rule.parts.end()) continue;
      if (!name.lora.empty()) return add_adapter(rule, name, p);
      if (part != rule.parts.begin()) return true;  // it came with the first
      return add_joined(rule, name, p);
    }
    return false;
  }

  bool add_adapter(const Rule& rule, const ParameterName& name, const WholeParameter& p) {
    const bool is_alone = rule.joined == Joined::alone || rule.joined == Joined::transposed;
    const std::string peft = std::string(adapter_prefix) + published(rule, name) +
                             (name.lora == "lora_a" ? ".lora_A." : ".lora_B.") + name.kind;
    tensors_.push_back(alone(is_alone ? peft : p.name, p));
    tensors_.back().is_adapter = true;
    ++adapters_;
    named_adapters_ += is_alone ? 1 : 0;
    return true;
  }

  bool add_joined(const Rule& rule, const ParameterName& name, const WholeParameter& p) {
    const std::string tensor = published(rule, name) + "." + name.kind;
    if (tensor.find('*') != std::string::npos) {
      if (p.dimensions != 3) return false;
      add_experts(tensors_, tensor, p);
      return true;
    }
    std::vector<const WholeParameter*> parameters;
    for (const std::string_view module : rule.parts) {
      if (module.empty()) continue;
      const std::string layer = name.layer.empty() ? "" : "layers." + name.layer + ".";
      const auto found = by_name_.find(layer + std::string(module) + "." + name.kind);
      if (found == by_name_.end()) return false;
      parameters.push_back(found->second);
    }
    return add_tensor(rule.joined, tensor, parameters);
  }

  bool add_tensor(Joined joined, const std::string& name, const std::vector<const WholeParameter*>& parameters) {
    switch (joined) {
      case Joined::alone: tensors_.push_back(alone(name, *parameters.front())); return true;
      case Joined::by_rows: tensors_.push_back(stacked(name, parameters)); return true;
      case Joined::transposed:
      case Joined::transposed_by_rows: tensors_.push_back(transposed(stacked(name, parameters))); return true;
      case Joined::by_heads: break;
    }
    auto tensor = interleaved(name, parameters);
    if (!tensor) return false;
    tensors_.push_back(std::move(*tensor));
    return true;
  }

  const Family& family_;
  const std::vector<WholeParameter>& parameters_;
  std::map<std::string, const WholeParameter*, std::less<>> by_name_;
  std::vector<PublishedTensor> tensors_;
  std::int64_t adapters_ = 0;
  std::int64_t named_adapters_ = 0;
};

}  // namespace

PublishedNetwork published_network(std::string_view model_type, const std::vector<WholeParameter>& parameters) {
  PublishedNetwork network;
  const auto family = std::find_if(std::begin(families), std::end(families),
                                   [&](const Family& each) { return each.model_type == model_type; });
  if (family != std::end(families)) {
    Publisher publisher(*family, parameters);
    if (auto tensors = publisher.tensors()) return {true, publisher.has_adapter_names(), std::move(*tensors)};
  }
  for (const WholeParameter& p : parameters) {
    network.tensors.push_back(alone(p.name, p));
    network.tensors.back().is_adapter = !split(p.name).lora.empty();
  }
  return network;
}

}  // namespace plumbline
