#pragma once
/// \file describe_operators.h: what a config says of its operators alongside their shapes: what only an execution
/// needs.
///
/// Model: keys that OperatorConstants can say are read; of the others those are known here that change what a network
/// computes, and a config that states one of them differently from the plain network gets a line in
/// OperatorConstants::not_executed. It is priced all the same. Source: modeling_<type>.py, modeling_rope_utils.py and
/// activations.py of huggingface/transformers 5.23. Not modelled: keys of architectures that the table does not have.
/// Checked against: tests/unit/models/import/operator_constants_test.cpp.

#include "core/graph/operator_constants.h"
#include "models/import/architecture.h"

namespace plumbline {

inline constexpr Keys norm_epsilon_keys = {"rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_eps"};
inline constexpr Keys attention_dropout_keys = {"attention_dropout", "attn_pdrop", "attention_probs_dropout_prob"};
inline constexpr Keys residual_dropout_keys = {"hidden_dropout", "resid_pdrop", "hidden_dropout_prob", "dropout"};
inline constexpr Keys embedding_dropout_keys = {"embd_pdrop"};

/// Throws InputError naming the key for wrong types and absurd numbers.
[[nodiscard]] OperatorConstants operator_constants(ConfigReader& config, const Architecture& row);

}  // namespace plumbline
