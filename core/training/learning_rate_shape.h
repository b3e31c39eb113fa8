#pragma once
/// \file learning_rate_shape.h: how a learning rate goes on behind its warm-up, by the names that recipes give.
///
/// What each shape computes: runtime/training/learning_rate.h.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumbline {

enum class LearningRateShape : std::uint8_t {
  constant,
  cosine,
  stable_then_decay,
  inverse_square_root,
  exponential,
  step,
  linear
};
inline constexpr std::array all_learning_rate_shapes{LearningRateShape::constant,
                                                     LearningRateShape::cosine,
                                                     LearningRateShape::linear,
                                                     LearningRateShape::stable_then_decay,
                                                     LearningRateShape::inverse_square_root,
                                                     LearningRateShape::exponential,
                                                     LearningRateShape::step};

[[nodiscard]] constexpr std::string_view to_text(LearningRateShape shape) {
  switch (shape) {
    case LearningRateShape::constant: return "constant";
    case LearningRateShape::cosine: return "cosine";
    case LearningRateShape::stable_then_decay: return "wsd";
    case LearningRateShape::inverse_square_root: return "inverse-sqrt";
    case LearningRateShape::exponential: return "exponential";
    case LearningRateShape::step: return "step";
    case LearningRateShape::linear: return "linear";
  }
  return "";
}
[[nodiscard]] constexpr std::optional<LearningRateShape> learning_rate_shape_from_text(std::string_view text) {
  for (const LearningRateShape shape : all_learning_rate_shapes)
    if (to_text(shape) == text) return shape;
  return std::nullopt;
}

[[nodiscard]] constexpr bool has_decay_factor(LearningRateShape shape) {
  return shape == LearningRateShape::exponential || shape == LearningRateShape::step;
}
/// Whether it ends at a rate of its own.
[[nodiscard]] constexpr bool has_final_rate(LearningRateShape shape) {
  return shape == LearningRateShape::cosine || shape == LearningRateShape::linear ||
         shape == LearningRateShape::stable_then_decay;
}

}  // namespace plumbline
