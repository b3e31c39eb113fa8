#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/dropout_factor.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

__device__ __forceinline__ float factor_of(const ElementDropout& args, const DropoutLaw& law, std::int64_t row,
                                           std::int64_t column) {
  const DropoutPlace& place = args.place;
  return dropout_factor(law, static_cast<std::uint64_t>(whole_row_of(place.rows, row) * place.whole_columns +
                                                        place.first_column + column));
}

__global__ void drop(ElementDropout args, DropoutLaw law) {
  for_each_element(args.input.rows, args.input.columns, [&](std::int64_t row, std::int64_t column) {
    const float factor = factor_of(args, law, row, column);
    if (args.mask != nullptr) args.mask[row * args.input.columns + column] = factor != 0.0F ? 1 : 0;
    store(args.output, row, column, load(args.input, row, column) * factor);
  });
}

__global__ void drop_gradient(ElementDropout args, DropoutLaw law) {
  for_each_element(args.input.rows, args.input.columns, [&](std::int64_t row, std::int64_t column) {
    const bool is_kept = args.mask != nullptr && args.mask[row * args.input.columns + column] != 0;
    const float factor = args.mask == nullptr ? factor_of(args, law, row, column) : (is_kept ? law.kept : 0.0F);
    store(args.output, row, column, load(args.input, row, column) * factor);
  });
}

void check_dropout(const ElementDropout& args) {
  check_same_shape(args.input, args.output);
  check(args.draw.probability >= 0.0F && args.draw.probability < 1.0F, "a dropout probability is in [0, 1)");
}

}  // namespace

void dropout_forward(const ElementDropout& args, cudaStream_t stream) {
  check_dropout(args);
  launch("dropout_forward", element_shape(args.input.rows, args.input.columns), stream, drop, args,
         dropout_law(args.draw));
}

void dropout_backward(const ElementDropout& args, cudaStream_t stream) {
  check_dropout(args);
  launch("dropout_backward", element_shape(args.input.rows, args.input.columns), stream, drop_gradient, args,
         dropout_law(args.draw));
}

}  // namespace plumbline::cuda
