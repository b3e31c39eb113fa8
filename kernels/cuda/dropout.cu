#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/dropout_factor.h"
#include "kernels/cuda/vectors.h"

namespace plumbline::cuda {
namespace {

struct DropoutCall {
  ElementDropout args;
  DropoutLaw law;
};

/// The dropout factors of columns [column, column + N). One Philox call draws for four elements. `drawn`: the call's
/// key, read once.
template <int N>
__device__ __forceinline__ Numbers<N> factors_of(const DropoutCall& call, PhiloxKey drawn, std::int64_t row,
                                                 std::int64_t column) {
  const ElementDropout& args = call.args;
  const DropoutPlace& place = args.place;
  const auto first =
      static_cast<std::uint64_t>(whole_row_of(place.rows, row) * place.whole_columns + place.first_column + column);
  Numbers<N> factors;
  PhiloxCounter words = {};
  PLUMBLINE_UNROLLED
  for (int i = 0; i < N; ++i) {
    const std::uint64_t element = first + static_cast<std::uint64_t>(i);
    if (i == 0 || element % 4 == 0) words = dropout_words(call.law.key, drawn, element / 4);
    factors.at[i] = dropout_factor(call.law, words, element);
  }
  return factors;
}

/// Eight elements in one access. A mask has no gaps between rows; `drops_by_eights` says whether rows start aligned.
template <int N>
__device__ __forceinline__ void store_mask(std::uint8_t* mask, const Numbers<N>& factors) {
  if constexpr (N == 1) {
    *mask = factors.at[0] != 0.0F ? 1 : 0;
  } else {
    Words2 words = {};
    PLUMBLINE_UNROLLED
    for (int i = 0; i < N; ++i) words.word[i / 4] |= (factors.at[i] != 0.0F ? 1U : 0U) << (i % 4 * 8);
    *reinterpret_cast<Words2*>(mask) = words;
  }
}

template <int N>
__device__ __forceinline__ Numbers<N> kept_factors(const std::uint8_t* mask, float kept) {
  Numbers<N> factors;
  if constexpr (N == 1) {
    factors.at[0] = *mask != 0 ? kept : 0.0F;
  } else {
    const auto words = *reinterpret_cast<const Words2*>(mask);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < N; ++i) factors.at[i] = (words.word[i / 4] >> (i % 4 * 8) & 0xffU) != 0 ? kept : 0.0F;
  }
  return factors;
}

template <int N>
__device__ __forceinline__ void store_product(const ElementDropout& args, std::int64_t row, std::int64_t column,
                                              const Numbers<N>& factors) {
  Numbers<N> numbers = load_numbers<N>(args.input, row, column);
  PLUMBLINE_UNROLLED
  for (int i = 0; i < N; ++i) numbers.at[i] *= factors.at[i];
  store_numbers<N>(args.output, row, column, numbers);
}

template <int N>
__global__ void __launch_bounds__(block_threads) drop(DropoutCall call) {
  const ElementDropout& args = call.args;
  const PhiloxKey drawn = call.law.key.key();
  for_each_element_group<N>(args.input.rows, args.input.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              const Numbers<count> factors = factors_of<count>(call, drawn, row, column);
                              if (args.mask != nullptr)
                                store_mask<count>(args.mask + row * args.input.columns + column, factors);
                              store_product<count>(args, row, column, factors);
                            });
}

template <int N>
__global__ void __launch_bounds__(block_threads) drop_gradient(DropoutCall call) {
  const ElementDropout& args = call.args;
  const PhiloxKey drawn = call.law.key.key();
  for_each_element_group<N>(
      args.input.rows, args.input.columns, [&](auto count, std::int64_t row, std::int64_t column) {
        store_product<count>(args, row, column,
                             args.mask == nullptr
                                 ? factors_of<count>(call, drawn, row, column)
                                 : kept_factors<count>(args.mask + row * args.input.columns + column, call.law.kept));
      });
}

bool drops_by_eights(const ElementDropout& args) {
  const bool is_mask_aligned =
      args.mask == nullptr ||
      (reinterpret_cast<std::uintptr_t>(args.mask) % sizeof(Words2) == 0 && args.input.columns % vector_elements == 0);
  return is_mask_aligned && takes_vectors(args.input, args.output);
}

void check_dropout(const ElementDropout& args) {
  check_same_shape(args.input, args.output);
  check(args.draw.probability >= 0.0F && args.draw.probability < 1.0F, "a dropout probability is in [0, 1)");
}

}  // namespace

void dropout_forward(const ElementDropout& args, cudaStream_t stream) {
  check_dropout(args);
  launch_elements("dropout_forward", args.input.rows, args.input.columns, drops_by_eights(args), stream,
                  drop<vector_elements>, drop<1>, DropoutCall{args, dropout_law(args.draw)});
}

void dropout_backward(const ElementDropout& args, cudaStream_t stream) {
  check_dropout(args);
  launch_elements("dropout_backward", args.input.rows, args.input.columns, drops_by_eights(args), stream,
                  drop_gradient<vector_elements>, drop_gradient<1>, DropoutCall{args, dropout_law(args.draw)});
}

}  // namespace plumbline::cuda
