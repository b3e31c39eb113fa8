#pragma once
/// \file update.h: the frame of element-wise optimizers: read the weight and the gradient, compute, write what changed.

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/errors.h"
#include "kernels/optimizer_state.h"
#include "kernels/reference/chunk.h"

namespace plumbline::reference {

/// Up to two states per element, as fp32 while a chunk is worked on.
struct UpdateChunk {
  const float* gradient = nullptr;  ///< not yet multiplied by the factor
  Chunk weight;
  Chunk first;
  Chunk second;
  std::int64_t count = 0;
};

/// The same with the step's rate and its decision's factor; nothing where the step is not taken.
[[nodiscard]] inline std::optional<OptimizedParameter> decided(OptimizedParameter p) {
  if (p.rate_of_step != nullptr) p.learning_rate = *p.rate_of_step;
  if (p.decision == nullptr) return p;
  if (p.decision->is_taken == 0) return std::nullopt;
  p.gradient_factor *= p.decision->factor;
  return p;
}

/// What the optimizer takes for an element of the gradient. What is no number stays so.
[[nodiscard]] inline float scaled_gradient(const OptimizedParameter& p, float gradient) {
  return std::min(std::max(gradient * p.gradient_factor, -p.gradient_limit), p.gradient_limit);
}

/// Draws for the elements from `first` on of the view.
inline void round_by_draw(const StochasticRounding& rounding, NumberFormat format, std::int64_t first,
                          std::int64_t count, float* values) {
  RoundingWords words(rounding);
  for (std::int64_t i = 0; i < count; ++i) values[i] = stochastically_rounded(values[i], format, words.of(first + i));
}

/// Calls step(chunk) for each chunk, which changes weight and states, and writes them back. States may be nothing.
template <class Step>
void update(const OptimizedParameter& p, const TensorView& first, const TensorView& second, Step step) {
  check_same_shape(p.parameter, p.gradient);
  for (const TensorView* view : {&p.master, &first, &second})
    if (view->is_there()) check_same_shape(p.parameter, *view);
  const TensorView& source = p.master.is_there() ? p.master : p.parameter;
  for (std::int64_t row = 0; row < p.parameter.rows; ++row)
    for_each_chunk(p.parameter.columns, [&](std::int64_t begin, std::int64_t count) {
      UpdateChunk chunk;
      Chunk gradient;
      chunk.count = count;
      chunk.gradient = load(p.gradient, row, begin, count, gradient);
      load_to(source, row, begin, count, chunk.weight.values);
      if (first.is_there()) load_to(first, row, begin, count, chunk.first.values);
      if (second.is_there()) load_to(second, row, begin, count, chunk.second.values);
      step(chunk);
      if (p.rounding.is_on)
        round_by_draw(p.rounding, source.format, row * p.parameter.columns + begin, count, chunk.weight.values);
      store(p.parameter, row, begin, count, chunk.weight.values);
      if (p.master.is_there()) store(p.master, row, begin, count, chunk.weight.values);
      if (first.is_there()) store(first, row, begin, count, chunk.first.values);
      if (second.is_there()) store(second, row, begin, count, chunk.second.values);
    });
}

}  // namespace plumbline::reference
