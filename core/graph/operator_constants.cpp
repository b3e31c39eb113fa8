#include "core/graph/operator_constants.h"

#include <bit>

namespace plumbline {

std::string canonical_text(const OperatorConstants& c) {
  std::string text;
  for (const double number :
       {static_cast<double>(c.dropout.embedding), static_cast<double>(c.dropout.attention),
        static_cast<double>(c.dropout.residual), c.rotary.base, c.rotary.rotated, static_cast<double>(c.rotary.scaling),
        c.rotary.factor, c.rotary.low_frequency_turns, c.rotary.high_frequency_turns, c.rotary.original_positions,
        static_cast<double>(c.norm_epsilon), static_cast<double>(c.activation), static_cast<double>(c.expert_weights),
        static_cast<double>(c.first_position)})
    text += std::to_string(std::bit_cast<std::uint64_t>(number)) + " ";
  return text;
}

}  // namespace plumbline
