#include "kernels/adagrad.h"

#include <cmath>

#include "kernels/reference/update.h"

namespace plumbline::reference {

void adagrad_step(const AdagradStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.sum_of_squares.is_there(), "AdaGrad has a sum of squares");
  update(p, args.sum_of_squares, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      float& w = chunk.weight.values[i];
      const float g = scaled_gradient(p, chunk.gradient[i]) + p.weight_decay * w;
      const float s = chunk.first.values[i] + g * g;
      chunk.first.values[i] = s;
      w -= p.learning_rate * g / (std::sqrt(s) + args.epsilon);
    }
  });
}

}  // namespace plumbline::reference
