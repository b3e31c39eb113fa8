#pragma once
/// \file shape.h: a network as flags of Megatron-LM, from and to a Hugging Face config.
///
/// Source: megatron/core/transformer/transformer_config.py and megatron/training/arguments.py of the revision that the
/// record names; the NullTokenizer's vocabulary is --vocab-size (one more before core_v0.18.0: releases.cpp), and every
/// vocabulary is padded to a multiple of --make-vocab-size-divisible-by times the tensor-parallel ranks
/// (megatron/training/tokenizer). Not modelled: how a router scores, initial values, windows of attention that are not
/// in every layer. Checked against: tests/unit/planner/frameworks/megatron/shape_test.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "core/io/json.h"

namespace plumbline::megatron {

/// Flags that say a network. Empty flags: there are none for its model_type.
struct ShapeFlags {
  Json::Object flags;
  std::vector<std::string> unsaid;  ///< a sentence for each fact of the config that they leave out
};
[[nodiscard]] ShapeFlags shape_flags(const Json& config, std::int64_t tensor_parallel);

struct ShapeConfig {
  Json config;                     ///< null: --num-layers, --hidden-size or --num-attention-heads is missing
  std::vector<std::string> notes;  ///< a sentence for each fact that is priced as something near it
};
/// Throws InputError (the flag) for values that are no numbers of a network.
[[nodiscard]] ShapeConfig shape_config(const Json& flags, std::int64_t tensor_parallel);

/// Layers that the flags or a config state; 0: none.
[[nodiscard]] std::int64_t layers_of_config(const Json& config);
/// Whether a config has experts.
[[nodiscard]] bool has_experts(const Json& config);

/// "([0]*3+[1]*58)", "2", "[1,0,1]": which layers are mixtures. Throws InputError (what, expected).
[[nodiscard]] std::vector<bool> mixture_layers(const Json& frequency, std::int64_t layers);

}  // namespace plumbline::megatron
