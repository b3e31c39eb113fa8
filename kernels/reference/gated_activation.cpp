#include "kernels/gated_activation.h"

#include "kernels/reference/chunk.h"
#include "kernels/reference/elementary.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {
namespace {

float logistic(float x) { return 1.0F / (1.0F + exp_of(-x)); }

/// Both gradients of a chunk from one evaluation of the logistic function.
void backward_chunk(const SwigluBackward& args, std::int64_t row, std::int64_t begin, std::int64_t count) {
  Chunk a;
  Chunk b;
  Chunk c;
  Chunk to_gate;
  Chunk to_up;
  const float* dy = load(args.output_gradient, row, begin, count, a);
  const float* gate = load(args.gate, row, begin, count, b);
  const float* up = load(args.up, row, begin, count, c);
  for (std::int64_t i = 0; i < count; ++i) {
    const float s = logistic(gate[i]);
    to_up.values[i] = dy[i] * gate[i] * s;
    to_gate.values[i] = dy[i] * up[i] * s * (1.0F + gate[i] * (1.0F - s));
  }
  store(args.gate_gradient, row, begin, count, to_gate.values);
  store(args.up_gradient, row, begin, count, to_up.values);
}

}  // namespace

void swiglu_forward(const SwigluForward& args) {
  check_same_shape(args.gate, args.up);
  check_same_shape(args.gate, args.output);
  for (std::int64_t row = 0; row < args.gate.rows; ++row)
    for_each_chunk(args.gate.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk a;
      Chunk b;
      Chunk out;
      const float* up = load(args.up, row, begin, count, b);
      silu_of(load(args.gate, row, begin, count, a), count, out.values);
      for (std::int64_t i = 0; i < count; ++i) out.values[i] *= up[i];
      store(args.output, row, begin, count, out.values);
    });
}

void swiglu_backward(const SwigluBackward& args) {
  check_same_shape(args.output_gradient, args.gate);
  check_same_shape(args.output_gradient, args.up);
  check_same_shape(args.gate_gradient, args.up_gradient);
  for (std::int64_t row = 0; row < args.gate.rows; ++row)
    for_each_chunk(args.gate.columns,
                   [&](std::int64_t begin, std::int64_t count) { backward_chunk(args, row, begin, count); });
}

}  // namespace plumbline::reference
