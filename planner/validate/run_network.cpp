#include "planner/validate/run_network.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <variant>

#include "core/base/errors.h"
#include "models/builders/language_model.h"
#include "models/import/hugging_face.h"
#include "models/name_or_path.h"
#include "models/network_catalog.h"

namespace plumbline {
namespace {

constexpr std::int64_t usual_head_dim = 128;
constexpr std::int64_t megatron_vocabulary_multiple = 128;
constexpr double parameters_per_square_width = 12;  // of a GPT layer: 4 h^2 attention, 8 h^2 MLP

[[noreturn]] void refuse(std::string what, std::string expected) {
  throw InputError({"model", std::move(what), std::move(expected), ""});
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// "bs-L64-H8192-A32-V50257-S1024": each letter's number.
std::optional<RunFields> shape_in_name(std::string_view name) {
  RunFields shape;
  std::size_t begin = 0;
  while (begin < name.size()) {
    std::size_t end = name.find('-', begin);
    if (end == std::string_view::npos) end = name.size();
    const std::string_view part = name.substr(begin, end - begin);
    std::int64_t number = 0;
    if (part.size() > 1) {
      const auto [last, error] = std::from_chars(part.data() + 1, part.data() + part.size(), number);
      if (error == std::errc() && last == part.data() + part.size() && number > 0) {
        constexpr std::string_view letters = "LHAVS";
        constexpr std::array<const char*, 5> keys{"layers", "hidden", "heads", "vocab", "seq_len"};
        const std::size_t at = letters.find(part.front());
        if (at != std::string_view::npos) shape.numbers[keys[at]] = number;
      }
    }
    begin = end + 1;
  }
  return shape.has("layers") && shape.has("hidden") ? std::optional(shape) : std::nullopt;
}

/// "bs-183b": 183e9.
std::optional<double> size_in_name(const std::string& name) {
  const std::size_t begin = name.find_last_of('-');
  if (begin == std::string::npos || !name.ends_with('b')) return std::nullopt;
  double billions = 0;
  const auto [end, error] = std::from_chars(name.data() + begin + 1, name.data() + name.size() - 1, billions);
  if (error != std::errc() || end != name.data() + name.size() - 1) return std::nullopt;
  constexpr double billion = 1e9;
  return billions * billion;
}

/// Architectures of decoders whose MLP is gated by SiLU, with RMSNorm, rotations, no biases and a head of its own:
/// huggingface/transformers, modeling_llama.py and those derived from it. Gemma gates by GELU and ties its head.
bool is_like_llama(std::string_view architecture) {
  constexpr std::array like{"llama", "mistral", "mixtral", "qwen", "deepseek", "phi3", "yi", "internlm", "baichuan"};
  std::string name(architecture);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::any_of(like.begin(), like.end(), [&](std::string_view one) { return name.starts_with(one); });
}

class ShapeReader {
 public:
  ShapeReader(const RunFields& fields, const RunFields& shape, std::vector<AssumedField>& assumed)
      : fields_(fields), shape_(shape), assumed_(assumed), like_llama_(is_like_llama(shape.word("arch"))) {}

  [[nodiscard]] TransformerDescription description() {
    refuse_what_no_graph_holds();
    TransformerDescription d;
    d.hidden = required("hidden");
    d.embedding_width = d.hidden;
    d.vocabulary = padded_vocabulary();
    d.default_sequence_length = shape_.number("seq_len").value_or(fields_.number("seq_len").value_or(1));
    d.tied_head = truth("tied_embeddings", !like_llama_);
    d.layer = layer(d.hidden);
    const std::string position = positions();
    if (position == "learned_absolute") d.learned_positions = d.default_sequence_length;
    d.embedding_dropout = d.layer.residual_dropout;
    d.layers = variants(layer_count(d));
    d.prediction_layers = shape_.number("mtp_depth").value_or(0);
    return d;
  }

 private:
  void refuse_what_no_graph_holds() const {
    if (shape_.has("hybrid_layer_pattern")) refuse("state-space layers are not modelled", "attention layers");
  }
  [[nodiscard]] std::int64_t required(const char* key) const {
    const auto number = shape_.number(key);
    if (!number) refuse(std::string("its shape lacks ") + key, "a complete shape");
    return *number;
  }
  [[nodiscard]] bool truth(const char* key, bool when_absent) const {
    const std::string word = shape_.word(key);
    return word.empty() ? when_absent : word == "true";
  }
  [[nodiscard]] std::string positions() const {
    const std::string stated = shape_.word("position");
    return stated.empty() ? like_llama_ ? "rope" : "learned_absolute" : stated;
  }
  /// Gated where the shape says so, by its activation's name or its architecture's; a plain one is what is left.
  [[nodiscard]] bool is_gated() const {
    const std::string activation = shape_.word("activation");
    if (activation.empty()) return truth("gated", like_llama_);
    const bool by_name = activation.ends_with("glu") || activation.find("gated") != std::string::npos;
    const bool of_gate = like_llama_ && (activation == "silu" || activation == "swish");
    return truth("gated", by_name || of_gate);
  }
  void assume(const char* field, std::int64_t value, const char* why) {
    assumed_.push_back({field, std::to_string(value), why});
  }

  [[nodiscard]] std::int64_t padded_vocabulary() {
    const std::int64_t stated = required("vocab");
    const bool megatron = fields_.word("framework").find("Megatron") != std::string::npos;
    const std::int64_t tensor = fields_.number("tp").value_or(1);
    const std::int64_t multiple =
        shape_.number("vocab_padded_multiple").value_or(megatron ? megatron_vocabulary_multiple * tensor : 1);
    return rounded_up(stated, multiple);
  }
  [[nodiscard]] std::int64_t heads(std::int64_t hidden) {
    if (const auto stated = shape_.number("heads")) return *stated;
    std::int64_t given = 0;
    const std::string word = fields_.word("heads");
    std::from_chars(word.data(), word.data() + word.size(), given);
    if (given > 0) return given;
    const std::int64_t usual = std::max<std::int64_t>(1, hidden / usual_head_dim);
    assume("heads", usual, "heads of 128 features, as in most networks of this size");
    return usual;
  }
  [[nodiscard]] std::int64_t layer_count(const TransformerDescription& d) {
    if (const auto stated = shape_.number("layers")) return fields_.number("num_layers_override").value_or(*stated);
    const auto size = size_in_name(fields_.word("model"));
    if (!size) refuse("its shape lacks layers", "a complete shape");
    const auto width = static_cast<double>(d.hidden);
    const double layers =
        (*size - static_cast<double>(d.vocabulary) * width) / (parameters_per_square_width * width * width);
    const auto whole = static_cast<std::int64_t>(std::lround(layers));
    if (whole < 1) refuse("its nominal size leaves no layer", "a complete shape");
    assume("layers", whole, "(nominal size - V h) / 12 h^2: the parameters of a GPT");
    return whole;
  }

  [[nodiscard]] LayerDescription layer(std::int64_t hidden) {
    LayerDescription l;
    if (const std::string norm = shape_.word("norm"); !norm.empty()) {
      const auto called = token_norm_called(norm);
      if (!called) refuse("its norm \"" + norm + "\" is unknown", "LayerNorm or RMSNorm");
      l.norm = *called;
    } else if (!like_llama_) {
      l.norm = OpKind::layer_norm;
    }
    const Bias bias = truth("bias", !like_llama_) ? Bias::yes : Bias::no;
    l.attention = attention(hidden, bias);
    l.mlp.gated = is_gated();
    l.mlp.width = shape_.number("ffn").value_or(4 * hidden);
    l.mlp.bias = bias;
    l.residual_dropout = fields_.word("hidden_dropout") == "on";
    if (shape_.has("num_experts")) l.mixture = mixture(l.mlp);
    return l;
  }
  [[nodiscard]] AttentionDescription attention(std::int64_t hidden, Bias bias) {
    AttentionDescription a;
    a.heads = heads(hidden);
    a.kv_heads = shape_.number("kv_heads").value_or(a.heads);
    const auto head_dim = shape_.number("kv_channels") ? shape_.number("kv_channels") : shape_.number("head_dim");
    if (!head_dim && hidden % a.heads != 0)
      refuse(std::to_string(a.heads) + " heads do not divide the width " + std::to_string(hidden), "a divisor");
    if (a.heads % a.kv_heads != 0)
      refuse(std::to_string(a.kv_heads) + " key heads do not divide " + std::to_string(a.heads), "a divisor");
    a.qk_head_dim = a.v_head_dim = head_dim.value_or(hidden / a.heads);
    a.qkv_bias = a.output_bias = bias;
    a.rotary = positions() == "rope";
    a.dropout = fields_.word("attention_dropout") == "on";
    if (shape_.number("kv_lora_rank").value_or(0) > 0) {
      a.latent = LatentAttention{shape_.number("q_lora_rank").value_or(0), *shape_.number("kv_lora_rank"),
                                 shape_.number("qk_nope_head_dim").value_or(usual_head_dim),
                                 shape_.number("qk_rope_head_dim").value_or(usual_head_dim / 2)};
      a.qk_head_dim = a.latent->nope_dim + a.latent->rope_dim;
      a.v_head_dim = shape_.number("v_head_dim").value_or(usual_head_dim);
      a.kv_heads = a.heads;
      a.rotary = true;
    }
    return a;
  }
  [[nodiscard]] MixtureDescription mixture(const MlpDescription& mlp) const {
    MixtureDescription m;
    m.experts = *shape_.number("num_experts");
    m.chosen = required("top_k");
    if (m.chosen > m.experts) refuse("more experts are chosen than there are", "top_k up to num_experts");
    m.width = shape_.number("moe_ffn").value_or(mlp.width);
    m.shared_width = shape_.number("shared_expert_ffn").value_or(shape_.number("shared_experts").value_or(0) * m.width);
    m.gated = mlp.gated;
    m.bias = mlp.bias;
    return m;
  }
  /// "([0]*3+[1]*5)": three dense layers, then five of experts.
  [[nodiscard]] std::vector<LayerVariant> variants(std::int64_t layers) const {
    LayerVariant each;
    each.mixture = shape_.has("num_experts");
    each.rotary = positions() == "rope" || shape_.number("kv_lora_rank").value_or(0) > 0;
    std::vector<LayerVariant> result(static_cast<std::size_t>(layers), each);
    std::int64_t dense = shape_.number("dense_layers").value_or(0);
    if (const std::string pattern = shape_.word("moe_layer_freq"); pattern.starts_with("([0]*"))
      std::from_chars(pattern.data() + 5, pattern.data() + pattern.size(), dense);
    for (std::size_t i = 0; i < result.size() && i < static_cast<std::size_t>(dense); ++i) result[i].mixture = false;
    return result;
  }

  const RunFields& fields_;
  const RunFields& shape_;
  std::vector<AssumedField>& assumed_;
  bool like_llama_;  ///< what the shape leaves open is Llama's, not GPT's
};

/// The network of the catalogue with its first layers alone, or with more of the last kind.
Graph with_layers(const Graph& graph, std::int64_t layers) {
  std::vector<BlockRun> runs;
  std::size_t last_layers = 0;  // one past the last run of layers that was kept
  std::int64_t left = layers;
  for (const BlockRun& run : graph.runs()) {
    const bool is_layer = graph.block(run.block).kind() == BlockKind::layer;
    const std::int64_t kept = is_layer ? std::min(left, run.count) : run.count;
    if (is_layer) left -= kept;
    if (kept == 0) continue;
    runs.push_back({run.block, kept});
    if (is_layer) last_layers = runs.size();
  }
  if (last_layers == 0) refuse("a network without layers cannot have another number of them", "a transformer");
  runs[last_layers - 1].count += left;
  return {graph.name(), graph.blocks(), std::move(runs)};
}

/// Documents of about `tokens` packed into a sequence do not see each other.
Graph with_documents(const Graph& graph, std::int64_t tokens) {
  std::vector<Block> blocks;
  for (const Block& block : graph.blocks()) {
    Block::Parts parts = block.parts();
    for (Op& op : parts.ops)
      if (auto* attention = std::get_if<AttentionAttributes>(&op.attributes)) attention->document = tokens;
    blocks.emplace_back(std::move(parts));
  }
  return {graph.name(), std::move(blocks), graph.runs()};
}

bool is_complete(const RunFields& shape) { return shape.has("hidden") && shape.has("vocab"); }

}  // namespace

Network network_of(const RunFields& fields, const std::optional<RunFields>& shape, std::vector<AssumedField>& assumed) {
  const std::string name = fields.has("model_as") ? fields.word("model_as") : fields.word("model");
  const std::optional<RunFields> given = shape && is_complete(*shape) ? shape : shape_in_name(name);
  if (!given) {
    if (name.empty()) refuse("no name and no shape", "a name of the catalogue or a shape");
    Network network = found_unquoted("model", name, "network", "plan models", find_network);
    if (const auto layers = fields.number("num_layers_override")) network.graph = with_layers(network.graph, *layers);
    if (const auto tokens = fields.number("document_tokens")) network.graph = with_documents(network.graph, *tokens);
    return network;
  }
  const TransformerDescription description = ShapeReader(fields, *given, assumed).description();
  Graph graph = language_model(name, description);
  require_countable("model", graph);
  return {
      name, {}, "", "the run's own shape", std::nullopt, "", description.default_sequence_length, "", std::move(graph)};
}

}  // namespace plumbline
