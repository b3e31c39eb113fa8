#include "kernels/adamw.h"

#include <cmath>

#include "kernels/reference/update.h"

namespace plumbline::reference {

void adamw_step(const AdamwStep& args) {
  const auto decision = decided(args.parameter);
  if (!decision) return;
  const OptimizedParameter& p = *decision;
  check(args.step >= 1 && args.first_moment.is_there() && args.second_moment.is_there(), "AdamW has two moments");
  // 1 - beta^t loses its digits in fp32 when beta is near 1.
  const std::int64_t t = p.decision != nullptr ? p.decision->update : args.step;
  const double correction1 = 1.0 - power(static_cast<double>(args.beta1), t);
  const double correction2 = 1.0 - power(static_cast<double>(args.beta2), t);
  const auto rate = static_cast<float>(static_cast<double>(p.learning_rate) / correction1);
  const auto root = static_cast<float>(1.0 / std::sqrt(correction2));
  const float keep = 1.0F - p.learning_rate * p.weight_decay;
  update(p, args.first_moment, args.second_moment, [&](UpdateChunk& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) {
      const float g = scaled_gradient(p, chunk.gradient[i]);
      const float m = args.beta1 * chunk.first.values[i] + (1.0F - args.beta1) * g;
      const float v = args.beta2 * chunk.second.values[i] + (1.0F - args.beta2) * g * g;
      chunk.first.values[i] = m;
      chunk.second.values[i] = v;
      chunk.weight.values[i] = chunk.weight.values[i] * keep - rate * m / (std::sqrt(v) * root + args.epsilon);
    }
  });
}

}  // namespace plumbline::reference
