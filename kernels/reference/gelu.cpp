#include "kernels/gelu.h"

#include "kernels/reference/chunk.h"
#include "kernels/reference/vector_loops.h"

namespace plumbline::reference {

void gelu_forward(const GeluForward& args) {
  check_same_shape(args.input, args.output);
  const auto gelu_of = args.form == Gelu::tanh ? gelu_tanh_of : gelu_erf_of;
  for (std::int64_t row = 0; row < args.input.rows; ++row)
    for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk in;
      Chunk out;
      gelu_of(load(args.input, row, begin, count, in), count, out.values);
      store(args.output, row, begin, count, out.values);
    });
}

void gelu_backward(const GeluBackward& args) {
  check_same_shape(args.output_gradient, args.input);
  check_same_shape(args.output_gradient, args.input_gradient);
  const auto gradient_of = args.form == Gelu::tanh ? gelu_tanh_gradient_of : gelu_erf_gradient_of;
  for (std::int64_t row = 0; row < args.input.rows; ++row)
    for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
      Chunk a;
      Chunk b;
      Chunk out;
      const float* dy = load(args.output_gradient, row, begin, count, a);
      gradient_of(dy, load(args.input, row, begin, count, b), count, out.values);
      store(args.input_gradient, row, begin, count, out.values);
    });
}

}  // namespace plumbline::reference
