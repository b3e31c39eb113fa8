#pragma once
/// \file run_network.h: the network that a run trains.
///
/// By its shape where the run gives one, by a name that is a shape ("L64-H8192-A32-V50257"), else from the catalogue.
/// What a shape leaves open is GPT-2's: layer norms, learned positions, biases, an MLP of four times the width, the
/// head tied to the embedding. Megatron pads the vocabulary to a multiple of 128 times the tensor-parallel degree.
/// Source: Radford et al., "Language models are unsupervised multitask learners", 2019; Megatron-LM's
/// --make-vocab-size-divisible-by.
/// Not modelled: multi-token prediction, state-space layers; such runs are refused.

#include <vector>

#include "core/measurement/run_rules.h"
#include "models/description/network.h"

namespace plumbline {

/// `fields` after the rules were applied. What had to be assumed is appended to `assumed`.
/// Throws InputError when the run does not say enough or asks for what no graph can hold.
[[nodiscard]] Network network_of(const RunFields& fields, const std::optional<RunFields>& shape,
                                 std::vector<AssumedField>& assumed);

}  // namespace plumbline
