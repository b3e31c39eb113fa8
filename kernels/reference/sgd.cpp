#include "kernels/sgd.h"

#include "kernels/reference/update.h"

namespace plumbline::reference {

void sgd_step(const SgdStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.momentum == 0.0F || args.velocity.is_there(), "momentum needs a velocity");
  const bool moves = args.velocity.is_there();
  update(p, args.velocity, {}, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      float& w = chunk.weight.values[i];
      const float g = scaled_gradient(p, chunk.gradient[i]) + p.weight_decay * w;
      const float v = moves ? args.momentum * chunk.first.values[i] + g : g;
      chunk.first.values[i] = v;
      w -= p.learning_rate * v;
    }
  });
}

}  // namespace plumbline::reference
