#pragma once
/// \file stochastic_rounding.h: a number between two neighbours of a 16-bit format becomes one of them by a draw, the
/// nearer one more often, so that updates smaller than half their distance are not lost: the mean stays.
///
/// Answers: the fp32 number that is stored, exact in the format. Model: P(away from zero) = the part of the distance
/// that lies behind the neighbour nearer to zero, in steps of 2^-16 (bf16), 2^-13 (fp16), 2^-24 (fp16 below 2^-14).
/// What is infinite or no number stays; fp16 beyond its largest number may become infinite. An element's draw follows
/// from (run and step, parameter, its index in the whole tensor) (philox.h), so that every layout and device has the
/// same bits. Source: Gupta et al., arXiv:1502.02551, section 3.1; Zamirai et al., arXiv:2010.06192, section 4 (weights
/// in bf16). Not modelled: fp8. Checked against: tests/kernels/stochastic_rounding_test.cpp (means, neighbours,
/// layouts); tests/kernels/cuda/optimizer_test.cpp (the same bits).

#include <bit>

#include "core/base/tensor_box.h"
#include "core/quantity/number_format.h"
#include "kernels/philox.h"

namespace plumbline {

/// By the bits that the format leaves away: adding a draw of as many carries into the rest with that probability.
[[nodiscard]] constexpr float carried_by_draw(float value, std::uint32_t word, std::uint32_t left_away) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + (word & left_away)) & ~left_away);
}

[[nodiscard]] constexpr float stochastically_rounded(float value, NumberFormat format, std::uint32_t word) {
  constexpr std::uint32_t infinite = 0x7f800000U;
  constexpr std::uint32_t sign = 0x80000000U;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & infinite) == infinite) return value;
  if (format == NumberFormat::bf16) return carried_by_draw(value, word, 0xffffU);
  if (format != NumberFormat::fp16) return value;
  constexpr float smallest_normal = 0x1p-14F;
  constexpr float step = 0x1p-24F;  // between fp16's numbers below it
  const auto magnitude = std::bit_cast<float>(bits & ~sign);
  if (magnitude >= smallest_normal) return carried_by_draw(value, word, 0x1fffU);
  const float steps = magnitude / step;
  const auto whole = static_cast<std::uint32_t>(steps);
  const float draw = static_cast<float>(word >> 8) * 0x1p-24F;
  const std::uint32_t rounded = whole + (draw < steps - static_cast<float>(whole) ? 1U : 0U);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(rounded) * step) | (bits & sign));
}

/// What an update draws for a view of a parameter, whose rows lie one behind another.
struct StochasticRounding {
  bool is_on = false;
  std::uint64_t seed = 0;                       ///< of run and step
  std::uint64_t parameter = 0;                  ///< the same number for every layout
  TensorBox box;                                ///< that the rank holds of it
  std::int64_t first = 0;                       ///< the view's first element in the box
  const std::uint64_t* seed_of_step = nullptr;  ///< in the memory of the tensors; nothing: `seed`
};

/// Words of an update's elements; neighbours share one draw of four.
class RoundingWords {
 public:
  constexpr explicit RoundingWords(const StochasticRounding& rounding) : rounding_(&rounding) {}

  /// `element`: of the view.
  [[nodiscard]] constexpr std::uint32_t of(std::int64_t element) {
    const auto index = static_cast<std::uint64_t>(rounding_->box.whole_index(rounding_->first + element));
    if (const std::uint64_t quad = index / 4; quad != quad_) draw(quad);
    // By comparisons: an index that is not known when compiling would put a GPU's words into local memory.
    const std::uint32_t low = index % 2 == 0 ? words_[0] : words_[1];
    const std::uint32_t high = index % 2 == 0 ? words_[2] : words_[3];
    return index % 4 < 2 ? low : high;
  }

 private:
  constexpr void draw(std::uint64_t quad) {
    const StochasticRounding& r = *rounding_;
    const std::uint64_t seed = r.seed_of_step != nullptr ? *r.seed_of_step : r.seed;
    quad_ = quad;
    words_ = philox({static_cast<std::uint32_t>(quad), static_cast<std::uint32_t>(quad >> 32),
                     static_cast<std::uint32_t>(r.parameter), static_cast<std::uint32_t>(r.parameter >> 32)},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  }

  const StochasticRounding* rounding_;
  std::uint64_t quad_ = ~std::uint64_t{0};
  PhiloxCounter words_{};
};

}  // namespace plumbline
