#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

/// Elements `column` and `column` + half of a head, read before either is written.
__device__ __forceinline__ void turn_pair(const Rotary& args, std::int64_t row, std::int64_t column,
                                          std::int64_t feature) {
  const std::int64_t half = args.rotary_dim / 2;
  const float angle = static_cast<float>(position_of(args.place, row)) * args.frequencies[feature];
  float sine = 0;
  float cosine = 0;
  sincosf(angle, &sine, &cosine);
  if (args.turn == Rotation::backward) sine = -sine;
  const float x = load(args.input, row, column);
  const float y = load(args.input, row, column + half);
  store(args.output, row, column, x * cosine - y * sine);
  store(args.output, row, column + half, y * cosine + x * sine);
}

__global__ void turn_heads(Rotary args) {
  for_each_element(args.input.rows, args.input.columns, [&](std::int64_t row, std::int64_t column) {
    const std::int64_t feature = column % args.head_dim;
    if (feature < args.rotary_dim / 2)
      turn_pair(args, row, column, feature);
    else if (feature >= args.rotary_dim && args.output.data != args.input.data)
      store(args.output, row, column, load(args.input, row, column));
  });
}

}  // namespace

void rotary(const Rotary& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  check(args.rotary_dim % 2 == 0 && args.rotary_dim <= args.head_dim && args.input.columns % args.head_dim == 0,
        "a row that turns consists of heads, and what turns of a head is even");
  launch("rotary", element_shape(args.input.rows, args.input.columns), stream, turn_heads, args);
}

}  // namespace plumbline::cuda
