#include "kernels/router.h"

#include <algorithm>
#include <limits>

#include "core/base/errors.h"
#include "kernels/reference/chunk.h"
#include "kernels/reference/elementary.h"
#include "kernels/reference/lanes.h"

namespace plumbline::reference {
namespace {

static_assert(most_experts <= chunk_size);

void softmax(const float* logits, std::int64_t count, float* probabilities) {
  const float top =
      lane_maximum(count, -std::numeric_limits<float>::infinity(), [&](std::int64_t i) { return logits[i]; });
  for (std::int64_t i = 0; i < count; ++i) probabilities[i] = exp_of(logits[i] - top);
  const float inverse = 1.0F / lane_sum<float>(count, [&](std::int64_t i) { return probabilities[i]; });
  for (std::int64_t i = 0; i < count; ++i) probabilities[i] *= inverse;
}

/// The k largest, best first, the lower expert first among equals.
void choose(const float* probabilities, std::int64_t count, std::int64_t chosen, std::int32_t* experts) {
  bool taken[most_experts] = {};
  for (std::int64_t k = 0; k < chosen; ++k) {
    std::int64_t best = -1;
    for (std::int64_t e = 0; e < count; ++e)
      if (!taken[e] && (best < 0 || probabilities[e] > probabilities[best])) best = e;
    taken[best] = true;
    experts[k] = static_cast<std::int32_t>(best);
  }
}

float chosen_sum(const float* probabilities, const std::int32_t* experts, std::int64_t chosen) {
  float sum = 0;
  for (std::int64_t k = 0; k < chosen; ++k) sum += probabilities[experts[k]];
  return sum;
}

/// Adds the gradient that the chosen weights pass to the probabilities.
void weights_backward(const RouterBackward& args, std::int64_t token, const float* probabilities, float* gradient) {
  const std::int32_t* experts = args.experts + token * args.chosen;
  const float* dw = args.weight_gradient + token * args.chosen;
  const bool divides = args.kind == RouterWeights::normalised;
  const float inverse = divides ? 1.0F / chosen_sum(probabilities, experts, args.chosen) : 1.0F;
  float along = 0;
  if (divides)
    for (std::int64_t k = 0; k < args.chosen; ++k) along += dw[k] * probabilities[experts[k]] * inverse;
  for (std::int64_t k = 0; k < args.chosen; ++k) gradient[experts[k]] += (dw[k] - along) * inverse;
}

void softmax_backward(const float* probabilities, std::int64_t count, float* gradient) {
  const float along = lane_sum<float>(count, [&](std::int64_t i) { return probabilities[i] * gradient[i]; });
  for (std::int64_t i = 0; i < count; ++i) gradient[i] = probabilities[i] * (gradient[i] - along);
}

}  // namespace

void router_forward(const RouterForward& args) {
  check_same_shape(args.logits, args.probabilities);
  const std::int64_t count = args.logits.columns;
  check(count <= most_experts, "a router has not too many experts");
  for (std::int64_t token = 0; token < args.logits.rows; ++token) {
    Chunk in;
    Chunk out;
    softmax(load(args.logits, token, 0, count, in), count, out.values);
    store(args.probabilities, token, 0, count, out.values);
  }
  // What backward will read decides, so that both see the same numbers when they are kept in 16 bits.
  router_choice({args.probabilities, args.experts, args.chosen});
  router_weighing({args.probabilities, args.experts, args.weights, args.chosen, args.kind});
}

void router_choice(const RouterChoice& args) {
  const std::int64_t count = args.probabilities.columns;
  check(count <= most_experts && args.chosen <= count, "a router has as many experts as it chooses, and not too many");
  for (std::int64_t token = 0; token < args.probabilities.rows; ++token) {
    Chunk chunk;
    choose(load(args.probabilities, token, 0, count, chunk), count, args.chosen, args.experts + token * args.chosen);
  }
}

void router_weighing(const RouterWeighing& args) {
  const std::int64_t count = args.probabilities.columns;
  check(count <= most_experts, "a router has not too many experts");
  for (std::int64_t token = 0; token < args.probabilities.rows; ++token) {
    Chunk chunk;
    const float* p = load(args.probabilities, token, 0, count, chunk);
    const std::int32_t* experts = args.experts + token * args.chosen;
    const bool divides = args.kind == RouterWeights::normalised;
    const float inverse = divides ? 1.0F / chosen_sum(p, experts, args.chosen) : 1.0F;
    for (std::int64_t k = 0; k < args.chosen; ++k) args.weights[token * args.chosen + k] = p[experts[k]] * inverse;
  }
}

void router_backward(const RouterBackward& args) {
  check_same_shape(args.probabilities, args.logit_gradient);
  const std::int64_t count = args.probabilities.columns;
  check(count <= most_experts, "a router has not too many experts");
  for (std::int64_t token = 0; token < args.probabilities.rows; ++token) {
    Chunk chunk;
    Chunk gradient = {};
    const float* p = load(args.probabilities, token, 0, count, chunk);
    weights_backward(args, token, p, gradient.values);
    softmax_backward(p, count, gradient.values);
    store(args.logit_gradient, token, 0, count, gradient.values);
  }
}

}  // namespace plumbline::reference
