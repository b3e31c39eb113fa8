#include "kernels/rmsprop.h"

#include <cmath>

#include "kernels/reference/update.h"

namespace plumbline::reference {

void rmsprop_step(const RmspropStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.mean_of_squares.is_there(), "RMSProp has a mean of squares");
  update(p, args.mean_of_squares, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      float& w = chunk.weight.values[i];
      const float g = scaled_gradient(p, chunk.gradient[i]) + p.weight_decay * w;
      const float v = args.beta * chunk.first.values[i] + (1.0F - args.beta) * g * g;
      chunk.first.values[i] = v;
      w -= p.learning_rate * g / (std::sqrt(v) + args.epsilon);
    }
  });
}

}  // namespace plumbline::reference
