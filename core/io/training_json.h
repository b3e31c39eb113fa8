#pragma once
/// \file training_json.h: the recipe of a plan file: what is trained on how much data.
///
/// Precision, gradient precision and optimizer are in the plan's "strategy" (strategy_json.h), once.

#include "core/io/json.h"
#include "core/training/training.h"

namespace plumbline {

/// {"sequence_length","global_batch","token_budget" (or null),"freeze_embeddings","frozen_layers":[[first,last],...],
/// "lora_rank"}.
[[nodiscard]] Json to_json(const Training& training);
/// Strict. The last four may be absent. Throws InputError.
[[nodiscard]] Training training_from_json(const JsonPlace& place);

}  // namespace plumbline
