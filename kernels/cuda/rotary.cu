#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

/// Rotates elements [column, column + N) with their partners half the rotated width further; all are read before any
/// is written.
template <int N>
__device__ __forceinline__ void turn_pairs(const Rotary& args, std::int64_t row, std::int64_t column,
                                           std::int64_t feature) {
  const std::int64_t half = args.rotary_dim / 2;
  const auto position = static_cast<float>(position_of(args.place, row));
  Numbers<N> x = load_numbers<N>(args.input, row, column);
  Numbers<N> y = load_numbers<N>(args.input, row, column + half);
  PLUMBLINE_UNROLLED
  for (int i = 0; i < N; ++i) {
    float sine = 0;
    float cosine = 0;
    sincosf(position * args.frequencies[feature + i], &sine, &cosine);
    if (args.turn == Rotation::backward) sine = -sine;
    const float turned = x.at[i] * cosine - y.at[i] * sine;
    y.at[i] = y.at[i] * cosine + x.at[i] * sine;
    x.at[i] = turned;
  }
  store_numbers<N>(args.output, row, column, x);
  store_numbers<N>(args.output, row, column + half, y);
}

template <int N>
__global__ void __launch_bounds__(block_threads) turn_heads(Rotary args) {
  for_each_element_group<N>(
      args.input.rows, args.input.columns, [&](auto count, std::int64_t row, std::int64_t column) {
        const std::int64_t feature = column % args.head_dim;
        if (feature < args.rotary_dim / 2)
          turn_pairs<count>(args, row, column, feature);
        else if (feature >= args.rotary_dim && args.output.data != args.input.data)
          store_numbers<count>(args.output, row, column, load_numbers<count>(args.input, row, column));
      });
}

/// Whether every aligned group of eight features lies within one head and either within one half of its rotated
/// features or behind them.
bool has_whole_groups(const Rotary& args) {
  return args.head_dim % vector_elements == 0 && args.rotary_dim % (2 * vector_elements) == 0;
}

}  // namespace

void rotary(const Rotary& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  check(args.rotary_dim % 2 == 0 && args.rotary_dim <= args.head_dim && args.input.columns % args.head_dim == 0,
        "a row that turns consists of heads, and what turns of a head is even");
  const bool is_vector = has_whole_groups(args) && takes_vectors(args.input, args.output);
  launch_elements("rotary", args.input.rows, args.input.columns, is_vector, stream, turn_heads<vector_elements>,
                  turn_heads<1>, args);
}

}  // namespace plumbline::cuda
