#pragma once
/// \file dropout_factor.h: what dropout multiplies an element by, drawn as on the CPU.
///
/// Checked against: tests/kernels/cuda/dropout_test.cpp, exact.

#include "kernels/cuda/language.h"
#include "kernels/dropout.h"

namespace plumbline::cuda {

/// 0 or 1 / (1 - probability), of an element of the whole tensor.
__device__ __forceinline__ float dropout_factor(const DropoutDraw& draw, std::uint64_t element) {
  const PhiloxCounter words = dropout_words(draw.key, element / 4);
  // By comparisons: an index that is not known when compiling would put the words into local memory.
  const std::uint32_t low = element % 2 == 0 ? words[0] : words[1];
  const std::uint32_t high = element % 2 == 0 ? words[2] : words[3];
  return (element % 4 < 2 ? low : high) < dropout_threshold(draw.probability) ? 0.0F : 1.0F / (1.0F - draw.probability);
}

}  // namespace plumbline::cuda
