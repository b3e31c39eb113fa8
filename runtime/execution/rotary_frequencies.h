#pragma once
/// \file rotary_frequencies.h: how far each pair of a head's features turns from one position to the next, in radians.
///
/// Model: base^(-2i / features), then the scaling of RotaryConstants. Llama 3.1 scales by wavelength 2 pi / frequency:
/// as it is where it fits the original positions more than high_frequency_turns times, divided by the factor where less
/// than low_frequency_turns times, in between a mean of both that is linear in that number of turns.
/// Source: modeling_rope_utils.py of huggingface/transformers 5.23 (linear; _compute_llama3_parameters).
/// Not modelled: dynamic, yarn and longrope, which also change with the sequence or scale the scores.
/// Checked against: transformers (tests/runtime/execution/rotary_frequencies_test.cpp), within 1e-6.

#include <cstdint>
#include <vector>

#include "core/graph/operator_constants.h"

namespace plumbline {

/// One frequency for each pair of `features` features.
[[nodiscard]] std::vector<float> rotary_frequencies(const RotaryConstants& constants, std::int64_t features);

}  // namespace plumbline
