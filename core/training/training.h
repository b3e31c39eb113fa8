#pragma once
/// \file training.h: the recipe: what is trained on how much data, in which precision, by which optimizer.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/training/optimizer.h"
#include "core/training/precision.h"

namespace plumbline {

/// Layers [first, last] in order of execution, counted from 0.
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const LayerRange&) const = default;
};

/// Which linears of a layer get LoRA adapters: all of them; those that queries, keys and values come from; those and
/// the one behind attention.
enum class LoraTargets : std::uint8_t { every_linear, queries_keys_values, attention };
inline constexpr std::array all_lora_targets{LoraTargets::every_linear, LoraTargets::queries_keys_values,
                                             LoraTargets::attention};

/// Which parameters are trained. Nothing set: all of them.
struct Adaptation {
  bool freeze_embeddings = false;
  std::vector<LayerRange> frozen_layers;
  /// LoRA: the base is frozen and `lora_targets` of the layers get a pair of adapters of this rank; 0: no LoRA.
  std::int64_t lora_rank = 0;
  LoraTargets lora_targets = LoraTargets::every_linear;
  bool operator==(const Adaptation&) const = default;
};

struct Training {
  std::int64_t sequence_length = 0;          ///< tokens per sequence
  std::int64_t global_batch = 0;             ///< sequences per optimizer step, over all ranks
  std::optional<std::int64_t> token_budget;  ///< tokens of the whole run
  PrecisionRecipe precision = PrecisionRecipe::bf16;
  std::optional<NumberFormat> gradient_format;  ///< overrides the recipe's
  Optimizer optimizer = Optimizer::adamw;
  Adaptation adaptation;
  std::optional<NumberFormat> optimizer_format;  ///< of the moments, overrides the recipe's

  [[nodiscard]] PrecisionFormats formats() const {
    PrecisionFormats formats = precision_formats(precision, gradient_format, optimizer_format);
    if (facts(optimizer).quantizes_states) formats.optimizer_state = NumberFormat::fp32;
    return formats;
  }
};

}  // namespace plumbline
