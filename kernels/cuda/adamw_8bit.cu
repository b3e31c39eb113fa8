// 8-bit AdamW: a block of threads takes 256 elements that share their scales, an element each.
#include <algorithm>
#include <cmath>

#include "kernels/adamw_8bit.h"
#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/optimizer_rules.h"

namespace plumbline::cuda {

static_assert(block_threads == moment_block, "a thread for each element of a block");

/// An argument of the kernel: device code sees no constants of the host.
struct CodeBooks {
  float both_signs[moment_block];
  float positive[moment_block];
};

namespace {

[[nodiscard]] CodeBooks code_books() {
  CodeBooks books{};
  const CodeBook both_signs = dynamic_code_book(MomentSigns::both);
  const CodeBook positive = dynamic_code_book(MomentSigns::positive);
  std::copy(both_signs.begin(), both_signs.end(), books.both_signs);
  std::copy(positive.begin(), positive.end(), books.positive);
  return books;
}

/// As reference::nearest_code.
__device__ __forceinline__ std::uint8_t nearest_code(const float* book, float value) {
  int low = 0;
  int high = static_cast<int>(moment_block);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (book[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return 0;
  if (low == static_cast<int>(moment_block)) return static_cast<std::uint8_t>(moment_block - 1);
  const float middle = (book[low] + book[low - 1]) * 0.5F;
  return static_cast<std::uint8_t>(value >= middle ? low : low - 1);
}

/// All threads of a block call.
__device__ void store_code(const float* book, const CodedMoment& state, std::int64_t block, std::int64_t at,
                           bool is_inside, float value) {
  const float largest = block_maximum(is_inside ? fabsf(value) : 0.0F);
  const float inverse = largest > 0.0F ? 1.0F / largest : 0.0F;
  if (threadIdx.x == 0) state.largest[block] = largest;
  if (is_inside) state.codes[at] = nearest_code(book, value * inverse);
}

}  // namespace

/// A template, as its shared memory must be linked as that of functions in headers is.
template <std::int64_t size>
__global__ void update_coded_blocks(Adamw8bitStep args, CodeBooks books, std::int64_t blocks) {
  OptimizedParameter& p = args.parameter;
  if (!is_decided(p)) return;
  __shared__ float both_signs[size];
  __shared__ float positive[size];
  both_signs[threadIdx.x] = books.both_signs[threadIdx.x];
  positive[threadIdx.x] = books.positive[threadIdx.x];
  Adamw rule{args.beta1, args.beta2, args.epsilon, args.step};
  rule.prepare(p);  // all threads wait in it
  const TensorView source = p.master.data != nullptr ? p.master : p.parameter;
  RoundingWords words(p.rounding);
  for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::int64_t at = block * moment_block + threadIdx.x;
    const bool is_inside = at < p.parameter.columns;
    Element e;
    if (is_inside) {
      e = {load(source, 0, at), scaled_gradient(p, load(p.gradient, 0, at)),
           both_signs[args.first_moment.codes[at]] * args.first_moment.largest[block],
           positive[args.second_moment.codes[at]] * args.second_moment.largest[block]};
      rule.run(p, e);
      if (p.rounding.is_on) e.weight = stochastically_rounded(e.weight, source.format, words.of(at));
      store(p.parameter, 0, at, e.weight);
      if (p.master.data != nullptr) store(p.master, 0, at, e.weight);
    }
    __syncthreads();  // every thread has read the scales
    store_code(both_signs, args.first_moment, block, at, is_inside, e.first);
    store_code(positive, args.second_moment, block, at, is_inside, e.second);
  }
}

void adamw_8bit_step(const Adamw8bitStep& args, cudaStream_t stream) {
  const OptimizedParameter& p = args.parameter;
  check(args.step >= 1 && args.first_moment.codes != nullptr && args.second_moment.codes != nullptr,
        "8-bit AdamW has two moments");
  check(p.parameter.rows == 1, "blocks lie in one row");
  check_same_shape(p.parameter, p.gradient);
  if (p.parameter.columns == 0) return;
  const std::int64_t blocks = (p.parameter.columns + moment_block - 1) / moment_block;
  launch("adamw_8bit_step", {.grid = dim3(blocks_for(blocks, 1))}, stream, update_coded_blocks<moment_block>, args,
         code_books(), blocks);
}

}  // namespace plumbline::cuda
