#include "kernels/lion.h"

#include "kernels/reference/update.h"

namespace plumbline::reference {

void lion_step(const LionStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.momentum.is_there(), "Lion has a momentum");
  update(p, args.momentum, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      const float g = scaled_gradient(p, chunk.gradient[i]);
      const float m = chunk.first.values[i];
      const float direction = args.beta1 * m + (1.0F - args.beta1) * g;
      const float sign = direction > 0.0F ? 1.0F : (direction < 0.0F ? -1.0F : direction);  // 0 and NaN stay
      float& w = chunk.weight.values[i];
      w -= p.learning_rate * (sign + p.weight_decay * w);
      chunk.first.values[i] = args.beta2 * m + (1.0F - args.beta2) * g;
    }
  });
}

}  // namespace plumbline::reference
