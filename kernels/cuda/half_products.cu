#include "kernels/cuda/half_products.h"

#include "kernels/cuda/expert_group.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensor_core.h"

namespace plumbline::cuda {
namespace {

constexpr int side = 128;  ///< of a block's tile of c
constexpr int depth = 32;  ///< of a step
constexpr int stages = 3;
constexpr int gap = 8;  ///< between rows in shared memory, so that a column's rows lie in different banks
constexpr int threads = 256;
constexpr int warp_rows = 64;  ///< of c: warps stand 2 by 4
constexpr int warp_columns = 32;
constexpr int warps_across = side / warp_columns;
constexpr int row_fragments = warp_rows / 16;
constexpr int column_fragments = warp_columns / 8;

/// How a tile lies in shared memory: as its operand does, with the inner dimension along rows or down columns.
enum class Inner : std::uint8_t { along_rows, down_columns };

template <Inner inner>
struct TileShape {
  static constexpr int rows = inner == Inner::along_rows ? side : depth;
  static constexpr int columns = inner == Inner::along_rows ? depth : side;
  static constexpr int stride = columns + gap;
  static constexpr int words = rows * stride;
};

/// An operand [outer, inner] of a block, from its first row; rows begin at multiples of 16 bytes or do not.
struct Operand {
  const std::uint16_t* first = nullptr;
  std::int64_t stride = 0;
  std::int64_t rows = 0;  ///< as it lies in memory
  std::int64_t columns = 0;
  bool is_aligned = false;
};

__device__ __forceinline__ Operand operand(const ConstTensorView& view, std::int64_t first_row, std::int64_t rows,
                                           std::int64_t columns) {
  Operand o;
  o.first = static_cast<const std::uint16_t*>(view.data) + first_row * view.stride;
  o.stride = view.stride;
  o.rows = rows;
  o.columns = columns;
  o.is_aligned = view.stride % 8 == 0 && reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  return o;
}

/// Copies a tile from [row, column], zeros outside of the operand.
template <Inner inner>
__device__ __forceinline__ void copy_tile(std::uint16_t* to, const Operand& from, std::int64_t row,
                                          std::int64_t column) {
  using Shape = TileShape<inner>;
  constexpr int parts = Shape::columns / 8;
  for (int i = static_cast<int>(threadIdx.x); i < Shape::rows * parts; i += threads) {
    const std::int64_t r = row + i / parts;
    const std::int64_t c = column + i % parts * 8;
    std::uint16_t* part = to + i / parts * Shape::stride + i % parts * 8;
    const bool is_there = r < from.rows && c < from.columns;
    const std::int64_t at = is_there ? r * from.stride + c : 0;
    if (!is_there || (from.is_aligned && c + 8 <= from.columns)) {
      copy_async(part, from.first + at, is_there);
      continue;
    }
    PLUMBLINE_ROLLED
    for (int e = 0; e < 8; ++e) part[e] = c + e < from.columns ? from.first[at + e] : std::uint16_t{0};
  }
}

template <Inner inner>
__device__ __forceinline__ void copy_step(std::uint16_t* to, const Operand& from, std::int64_t outer, std::int64_t k) {
  if constexpr (inner == Inner::along_rows)
    copy_tile<inner>(to, from, outer, k);
  else
    copy_tile<inner>(to, from, k, outer);
}

/// Rows [outer, outer + 16) and inner indices [k, k + 16) of a tile.
template <Inner inner>
__device__ __forceinline__ void load_a(FragmentA& to, const std::uint16_t* tile, int outer, int k) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  if constexpr (inner == Inner::along_rows)
    load_matrices<false>(to, tile + (outer + lane % 16) * TileShape<inner>::stride + k + lane / 16 * 8);
  else
    load_matrices<true>(to,
                        tile + (k + lane / 16 * 8 + lane % 8) * TileShape<inner>::stride + outer + lane / 8 % 2 * 8);
}

/// Columns [outer, outer + 16) of c, as two operands.
template <Inner inner>
__device__ __forceinline__ void load_b(FragmentA& to, const std::uint16_t* tile, int outer, int k) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  if constexpr (inner == Inner::along_rows)
    load_matrices<false>(to,
                         tile + (outer + lane % 8 + lane / 16 * 8) * TileShape<inner>::stride + k + lane / 8 % 2 * 8);
  else
    load_matrices<true>(to, tile + (k + lane % 16) * TileShape<inner>::stride + outer + lane / 16 * 8);
}

/// What a warp has of c.
using Sums = FragmentSum[row_fragments][column_fragments];

template <NumberFormat format, Inner of_a, Inner of_b>
__device__ __forceinline__ void multiply_step(Sums& sums, const std::uint16_t* a, const std::uint16_t* b, int row,
                                              int column) {
  for (int k = 0; k < depth; k += 16) {
    FragmentA left[row_fragments];
    for (int i = 0; i < row_fragments; ++i) load_a<of_a>(left[i], a, row + i * 16, k);
    for (int j = 0; j < column_fragments / 2; ++j) {
      FragmentA loaded;
      load_b<of_b>(loaded, b, column + j * 16, k);
      const FragmentB low = {loaded[0], loaded[1]};
      const FragmentB high = {loaded[2], loaded[3]};
      for (int i = 0; i < row_fragments; ++i) {
        multiply_add<format>(sums[i][2 * j], left[i], low);
        multiply_add<format>(sums[i][2 * j + 1], left[i], high);
      }
    }
  }
}

/// Formats that a result or a bias has here.
template <class Memory>
__device__ __forceinline__ float load_wide(const BasicTensorView<Memory>& view, std::int64_t at) {
  if (view.format == NumberFormat::fp32) return static_cast<const float*>(view.data)[at];
  const std::uint16_t word = static_cast<const std::uint16_t*>(view.data)[at];
  return view.format == NumberFormat::bf16 ? widen_bf16(word) : widen_fp16(word);
}

__device__ __forceinline__ void store_wide(const TensorView& view, std::int64_t at, float value) {
  if (view.format == NumberFormat::fp32)
    static_cast<float*>(view.data)[at] = value;
  else
    static_cast<std::uint16_t*>(view.data)[at] =
        view.format == NumberFormat::bf16 ? narrow_bf16(value) : narrow_fp16(value);
}

__device__ __forceinline__ void store_sums(const Product& p, std::int64_t row, std::int64_t column, const Sums& sums) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  PLUMBLINE_UNROLLED
  for (int i = 0; i < row_fragments; ++i) {
    PLUMBLINE_UNROLLED
    for (int j = 0; j < column_fragments; ++j) {
      PLUMBLINE_UNROLLED
      for (int e = 0; e < 4; ++e) {
        const std::int64_t r = row + i * 16 + lane / 4 + e / 2 * 8;
        const std::int64_t c = column + j * 8 + lane % 4 * 2 + e % 2;
        if (r >= p.m || c >= p.n) continue;
        const std::int64_t at = (p.first_row_of_c + r) * p.c.stride + c;
        float value = p.alpha * sums[i][j][e];
        if (p.bias.data != nullptr) value += load_wide(p.bias, p.bias_row * p.bias.stride + c);
        if (p.beta != 0.0F) value += p.beta * load_wide(p.c, at);
        store_wide(p.c, at, value);
      }
    }
  }
}

/// A block's own part of a grouped product; false: there is nothing to write.
__device__ __forceinline__ bool take_group(Product& p, const HalfProduct& args) {
  if (args.divided == Divided::nothing) return true;
  const std::int64_t expert = blockIdx.z;
  const Group group = group_of(args.groups, expert);
  if (args.divided == Divided::rows) {
    p.m = group.rows;
    p.first_row_of_a = p.first_row_of_c = group.first;
    p.first_row_of_b = expert * args.rows_of_b;
    p.bias_row = expert;
    return true;
  }
  p.k = group.rows;
  p.first_row_of_a = p.first_row_of_b = group.first;
  p.first_row_of_c = expert * p.m;
  return group.rows > 0 || p.beta == 0.0F;
}

template <NumberFormat format, Inner of_a, Inner of_b>
__device__ __forceinline__ void multiply_tile(const Product& p, std::int64_t row, std::int64_t column,
                                              std::uint16_t* shared) {
  constexpr int words_of_a = TileShape<of_a>::words;
  constexpr int words_of_stage = words_of_a + TileShape<of_b>::words;
  const Operand a =
      of_a == Inner::along_rows ? operand(p.a, p.first_row_of_a, p.m, p.k) : operand(p.a, p.first_row_of_a, p.k, p.m);
  const Operand b =
      of_b == Inner::along_rows ? operand(p.b, p.first_row_of_b, p.n, p.k) : operand(p.b, p.first_row_of_b, p.k, p.n);
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const int warp_row = warp / warps_across * warp_rows;
  const int warp_column = warp % warps_across * warp_columns;
  const std::int64_t steps = (p.k + depth - 1) / depth;
  const auto copy = [&](std::int64_t step) {
    std::uint16_t* to = shared + step % stages * words_of_stage;
    if (step < steps) {
      copy_step<of_a>(to, a, row, step * depth);
      copy_step<of_b>(to + words_of_a, b, column, step * depth);
    }
    commit_copies();
  };
  Sums sums = {};
  for (int step = 0; step < stages - 1; ++step) copy(step);
  for (std::int64_t step = 0; step < steps; ++step) {
    wait_for_copies<stages - 2>();
    __syncthreads();  // the step is there, and nobody reads the one that is overwritten next
    copy(step + stages - 1);
    const std::uint16_t* tile = shared + step % stages * words_of_stage;
    multiply_step<format, of_a, of_b>(sums, tile, tile + words_of_a, warp_row, warp_column);
  }
  wait_for_copies<0>();
  __syncthreads();
  store_sums(p, row + warp_row, column + warp_column, sums);
}

template <NumberFormat format, Inner of_a, Inner of_b>
__global__ void __launch_bounds__(threads, 1) multiply_halves(HalfProduct args) {
  Product p = args.product;
  if (!take_group(p, args)) return;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * side; row < p.m;
       row += static_cast<std::int64_t>(gridDim.y) * side)
    multiply_tile<format, of_a, of_b>(p, row, static_cast<std::int64_t>(blockIdx.x) * side,
                                      dynamic_shared<std::uint16_t>());
}

template <NumberFormat format, Inner of_a, Inner of_b>
void launch_product(const char* name, const HalfProduct& args, cudaStream_t stream) {
  const Product& p = args.product;
  const std::int64_t groups = args.divided == Divided::nothing ? 1 : args.groups.experts;
  constexpr int words = TileShape<of_a>::words + TileShape<of_b>::words;
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((p.n + side - 1) / side),
                                       blocks_for(p.m, side, most_grid_rows), static_cast<unsigned>(groups)),
                          .block = dim3(threads),
                          .dynamic_shared = std::size_t{stages} * words * sizeof(std::uint16_t)};
  launch(name, shape, stream, multiply_halves<format, of_a, of_b>, args);
}

template <NumberFormat format>
void launch_product(const char* name, const HalfProduct& args, cudaStream_t stream) {
  const bool a_along = args.product.transpose_a == Transpose::no;
  const bool b_along = args.product.transpose_b == Transpose::yes;
  constexpr Inner along = Inner::along_rows;
  constexpr Inner down = Inner::down_columns;
  if (a_along && b_along) return launch_product<format, along, along>(name, args, stream);
  if (a_along) return launch_product<format, along, down>(name, args, stream);
  if (b_along) return launch_product<format, down, along>(name, args, stream);
  launch_product<format, down, down>(name, args, stream);
}

bool is_half(NumberFormat format) { return format == NumberFormat::bf16 || format == NumberFormat::fp16; }
bool is_wide(NumberFormat format) { return is_half(format) || format == NumberFormat::fp32; }

}  // namespace

bool takes_half_product(const Product& product) {
  return is_half(product.a.format) && product.b.format == product.a.format && is_wide(product.c.format) &&
         (!product.bias.is_there() || is_wide(product.bias.format));
}

void half_product(const char* name, const HalfProduct& args, cudaStream_t stream) {
  check(takes_half_product(args.product), "the tensor cores' product takes this call");
  if (args.product.a.format == NumberFormat::bf16) return launch_product<NumberFormat::bf16>(name, args, stream);
  launch_product<NumberFormat::fp16>(name, args, stream);
}

}  // namespace plumbline::cuda
