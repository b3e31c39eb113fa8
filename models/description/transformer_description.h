#pragma once
/// \file transformer_description.h: what a transformer is made of, in words that name no architecture.
///
/// Importers fill it, builders turn it into a Graph. Widths are features, counts are heads, experts or layers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/token_ops.h"

namespace plumbline {

/// Keys and values from a low-rank state (multi-head latent attention, arXiv:2405.04434, section 2.1).
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: the query is projected directly
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;       ///< features of a head that carry no position
  std::int64_t rope_dim = 0;       ///< features of a head that are rotated; shared by all heads of the key
  OpKind norm = OpKind::rms_norm;  ///< of both states
};

struct AttentionDescription {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qk_head_dim = 0;
  std::int64_t v_head_dim = 0;
  Bias qkv_bias = Bias::no;
  Bias output_bias = Bias::no;
  bool head_norm = false;  ///< a norm over each head of query and key
  bool rotary = false;
  RotaryMagnitude rotary_magnitude = RotaryMagnitude::kept;
  bool causal = true;
  bool dropout = false;
  bool output_gate = false;                ///< what is attended to is scaled by a gate as wide, made from the input
  bool sinks = false;                      ///< a learned logit per head that takes attention from the tokens
  std::int64_t relative_bias_buckets = 0;  ///< learned bias per distance bucket and head, in the first layer only
  std::optional<LatentAttention> latent;
};

/// A state per head in place of attention (Gated DeltaNet, arXiv:2412.06464).
struct DeltaNetDescription {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_head_dim = 0;
  std::int64_t value_head_dim = 0;
  std::int64_t convolution = 0;  ///< tokens that the convolution before it sees
};

struct MlpDescription {
  std::int64_t width = 0;
  bool gated = false;
  Bias bias = Bias::no;
  bool inner_dropout = false;  ///< dropout between the activation and the second product
};

struct MixtureDescription {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;
  std::int64_t width = 0;              ///< of one expert
  std::int64_t shared_width = 0;       ///< of the expert that every token passes; 0: none
  bool shared_gate = false;            ///< the shared expert's result is scaled by a learned gate
  Bias bias = Bias::no;                ///< in router and experts
  bool gated = true;                   ///< routed and shared experts
  GateLimits limits = GateLimits::no;  ///< of routed experts' gates
};

/// Where a layer normalizes and how its two parts are joined.
enum class LayerWiring : std::uint8_t {
  pre_norm,              ///< x + part(norm(x)), twice
  post_norm,             ///< norm(x + part(x)), twice
  sandwich_norm,         ///< x + norm(part(norm(x))), twice
  parallel_shared_norm,  ///< x + attention(n) + mlp(n) with one n = norm(x)
  parallel_two_norms,    ///< x + attention(norm(x)) + mlp(norm'(x))
};

/// What may differ from layer to layer. Equal variants share one block.
struct LayerVariant {
  std::int64_t window = 0;  ///< tokens that a query sees; 0: all
  bool mixture = false;     ///< experts in place of the MLP
  bool rotary = true;       ///< false: a layer without positions in a network that rotates
  bool delta_net = false;   ///< a Gated DeltaNet in place of attention
  bool operator==(const LayerVariant&) const = default;
};

struct LayerDescription {
  LayerWiring wiring = LayerWiring::pre_norm;
  OpKind norm = OpKind::rms_norm;
  AttentionDescription attention;
  std::optional<DeltaNetDescription> delta_net;
  MlpDescription mlp;
  std::optional<MixtureDescription> mixture;
  bool residual_dropout = false;
};

/// A decoder, or an encoder when `layer.attention.causal` is false.
struct TransformerDescription {
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t embedding_width = 0;    ///< differs from hidden where a projection is between them
  std::int64_t learned_positions = 0;  ///< rows of the position table; 0: none
  std::int64_t token_types = 0;        ///< rows of the token type table; 0: none
  std::int64_t default_sequence_length = 0;
  bool embedding_norm = false;
  bool embedding_dropout = false;
  bool final_norm = true;
  bool pooler = false;  ///< a projection of the first token alongside the head
  bool tied_head = false;
  Bias head_bias = Bias::no;
  LayerDescription layer;
  std::vector<LayerVariant> layers;
  std::int64_t prediction_layers = 0;  ///< behind the others, of the last kind: each predicts one token further
  std::string note;
};

}  // namespace plumbline
