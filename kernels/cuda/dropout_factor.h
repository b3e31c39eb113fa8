#pragma once
/// \file dropout_factor.h: what dropout multiplies an element by, drawn as on the CPU.
///
/// Checked against: tests/kernels/cuda/dropout_test.cpp, exact.

#include "kernels/cuda/language.h"
#include "kernels/dropout.h"

namespace plumbline::cuda {

/// A draw with what all its elements share, worked out on the host: a division in a kernel's loop is a call.
struct DropoutLaw {
  DropoutKey key;
  std::uint32_t threshold = 0;
  float kept = 1.0F;  ///< 1 / (1 - probability)
};

[[nodiscard]] inline DropoutLaw dropout_law(const DropoutDraw& draw) {
  return {draw.key, dropout_threshold(draw.probability), 1.0F / (1.0F - draw.probability)};
}

/// 0 or 1 / (1 - probability), of an element of the whole tensor and the draw that it shares.
__device__ __forceinline__ float dropout_factor(const DropoutLaw& law, const PhiloxCounter& words,
                                                std::uint64_t element) {
  // By comparisons: an index that is not known when compiling would put the words into local memory.
  const std::uint32_t low = element % 2 == 0 ? words[0] : words[1];
  const std::uint32_t high = element % 2 == 0 ? words[2] : words[3];
  return (element % 4 < 2 ? low : high) < law.threshold ? 0.0F : law.kept;
}
__device__ __forceinline__ float dropout_factor(const DropoutLaw& law, std::uint64_t element) {
  return dropout_factor(law, dropout_words(law.key, element / 4), element);
}

}  // namespace plumbline::cuda
