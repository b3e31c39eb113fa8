#pragma once
/// \file operator_constants.h: what a network's operators compute alongside their shapes: no price or byte depends on
/// it.
///
/// Model: one value for the whole network, or for each kind of place. What a config asks for and these cannot say is
/// listed, so that nothing runs as something plainer. Source of the values without a config: Vaswani et al.,
/// arXiv:1706.03762, section 5.4 (dropout); Su et al., arXiv:2104.09864, section 3.3 (rotary base); PyTorch's LayerNorm
/// (epsilon); Hendrycks and Gimpel, arXiv:1606.08415, section 2 (GELU as GPT-2 has it).
/// Checked against: tests/unit/models/import/operator_constants_test.cpp.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace plumbline {

/// Of MLPs without a gate. Gates are SiLU's.
enum class Activation : std::uint8_t { gelu_erf, gelu_tanh, relu };

/// How a token's experts are weighted: by their probabilities among all, or among the chosen.
enum class ExpertWeights : std::uint8_t { probability, normalised };

/// Probabilities by place.
struct DropoutConstants {
  float embedding = 0.1F;
  float attention = 0.1F;  ///< of the scores after the softmax
  float residual = 0.1F;   ///< of what attention and MLP add
};

enum class RotaryScaling : std::uint8_t { none, linear, llama3 };

/// Scaling by `factor`: of all frequencies (linear; Chen et al., arXiv:2306.15595, section 2.3), or of those that turn
/// less than `low_frequency_turns` times in `original_positions`, none that turn more than `high_frequency_turns`
/// times, and the others in between (Llama 3.1, modeling_rope_utils.py).
struct RotaryConstants {
  double base = 10000;
  double rotated = 1;  ///< part of a head's features, the first ones
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;
  double low_frequency_turns = 1;
  double high_frequency_turns = 4;
  double original_positions = 8192;
};

struct OperatorConstants {
  DropoutConstants dropout;
  RotaryConstants rotary;
  float norm_epsilon = 1e-5F;
  Activation activation = Activation::gelu_tanh;
  ExpertWeights expert_weights = ExpertWeights::normalised;
  std::int64_t first_position = 0;  ///< row of the position table that the first token reads
  std::vector<InputProblem> not_executed;
};

/// Every number of what is executed, exactly, for fingerprints.
[[nodiscard]] std::string canonical_text(const OperatorConstants& constants);

}  // namespace plumbline
