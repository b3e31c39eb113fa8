// Products of matrices: single, of linear layers, of experts' linear layers, and Muon's.
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/column_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/expert_group.h"
#include "kernels/cuda/half_products.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product_tile.h"
#include "kernels/linear_product.h"

namespace plumbline::cuda {
namespace {

constexpr float smallest_norm = 1e-7F;
constexpr unsigned whole_block = 1024;

__global__ void __launch_bounds__(product_threads, product_blocks) multiply(Product p) {
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * product_tile; row < p.m;
       row += static_cast<std::int64_t>(gridDim.y) * product_tile)
    multiply_tile(p, row, static_cast<std::int64_t>(blockIdx.x) * product_tile);
}

/// Of a product whose rows are an expert's: x W^T or dy W.
__global__ void __launch_bounds__(product_threads, product_blocks)
    multiply_rows(ExpertRows groups, Product p, std::int64_t rows_of_b) {
  const std::int64_t expert = blockIdx.z;
  const Group group = group_of(groups, expert);
  p.m = group.rows;
  p.first_row_of_a = p.first_row_of_c = group.first;
  p.first_row_of_b = expert * rows_of_b;
  p.bias_row = expert;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * product_tile; row < p.m;
       row += static_cast<std::int64_t>(gridDim.y) * product_tile)
    multiply_tile(p, row, static_cast<std::int64_t>(blockIdx.x) * product_tile);
}

/// dy^T x of an expert's rows.
__global__ void __launch_bounds__(product_threads, product_blocks) multiply_transposed(ExpertRows groups, Product p) {
  const std::int64_t expert = blockIdx.z;
  const Group group = group_of(groups, expert);
  if (group.rows == 0 && p.beta != 0.0F) return;
  p.k = group.rows;
  p.first_row_of_a = p.first_row_of_b = group.first;
  p.first_row_of_c = expert * p.m;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * product_tile; row < p.m;
       row += static_cast<std::int64_t>(gridDim.y) * product_tile)
    multiply_tile(p, row, static_cast<std::int64_t>(blockIdx.x) * product_tile);
}

__global__ void bias_gradient(ConstTensorView dy, TensorView target, Write write) {
  sum_columns(target, 0, 0, dy.rows, write,
              [&](std::int64_t row, std::int64_t column) { return load(dy, row, column); });
}

template <int N>
__global__ void __launch_bounds__(block_threads)
    bias_parts(ConstTensorView dy, float* parts, std::int64_t rows_of_part) {
  const auto terms = [&](auto count, std::int64_t row, std::int64_t column) {
    return ColumnTerms<count, 1>{{load_numbers<count>(dy, row, column)}};
  };
  sum_column_parts<N, 1>(parts, dy.rows, dy.columns, rows_of_part, terms);
}

__global__ void expert_bias_gradients(ExpertRows groups, ConstTensorView dy, TensorView target, Write write) {
  const Group group = group_of(groups, blockIdx.y);
  if (group.rows == 0 && write == Write::accumulate) return;
  sum_columns(target, blockIdx.y, group.first, group.first + group.rows, write,
              [&](std::int64_t row, std::int64_t column) { return load(dy, row, column); });
}

/// x /= its norm, in one block: Muon's matrices are small beside a step.
__global__ void __launch_bounds__(whole_block) normalise(float* x, std::int64_t count) {
  double squares = 0;
  for_each_column(count, [&](std::int64_t i) { squares += static_cast<double>(x[i]) * static_cast<double>(x[i]); });
  const auto norm = static_cast<float>(sqrt(block_sum(squares)));
  const float factor = 1.0F / (norm < smallest_norm ? smallest_norm : norm);
  for_each_column(count, [&](std::int64_t i) { x[i] *= factor; });
}

LaunchShape product_shape(std::int64_t m, std::int64_t n, std::int64_t groups = 1) {
  return {.grid = dim3(static_cast<unsigned>((n + product_tile - 1) / product_tile),
                       blocks_for(m, product_tile, most_grid_rows), static_cast<unsigned>(groups)),
          .block = dim3(product_side, product_side)};
}

Product tiled_product(const Matmul& args) {
  const bool is_a = args.transpose_a == Transpose::yes;
  const bool is_b = args.transpose_b == Transpose::yes;
  const Product p{.a = args.a,
                  .b = args.b,
                  .c = args.c,
                  .bias = args.bias,
                  .transpose_a = args.transpose_a,
                  .transpose_b = args.transpose_b,
                  .m = args.c.rows,
                  .n = args.c.columns,
                  .k = is_a ? args.a.rows : args.a.columns,
                  .beta = args.write == Write::accumulate ? 1.0F : 0.0F};
  check((is_a ? args.a.columns : args.a.rows) == p.m && (is_b ? args.b.rows : args.b.columns) == p.n &&
            (is_b ? args.b.columns : args.b.rows) == p.k,
        "the operands of a product fit each other and the result");
  check(!args.bias.is_there() || (args.bias.rows == 1 && args.bias.columns == p.n), "a bias has one value per column");
  return p;
}

/// By tensor cores where they take it.
void run(const char* name, const Product& p, cudaStream_t stream) {
  if (takes_half_product(p)) return half_product(name, {p}, stream);
  launch(name, product_shape(p.m, p.n), stream, multiply, p);
}

/// Of experts' rows: x W^T or dy W.
void run_rows(const char* name, const ExpertRows& groups, const Product& p, std::int64_t rows_of_b,
              cudaStream_t stream) {
  if (takes_half_product(p)) return half_product(name, {p, Divided::rows, groups, rows_of_b}, stream);
  launch(name, product_shape(p.m, p.n, groups.experts), stream, multiply_rows, groups, p, rows_of_b);
}

/// Weight gradients of the experts: dy^T x over each expert's rows.
void run_inner(const char* name, const ExpertRows& groups, const Product& p, cudaStream_t stream) {
  if (takes_half_product(p)) return half_product(name, {p, Divided::inner, groups, 0}, stream);
  launch(name, product_shape(p.m, p.n, groups.experts), stream, multiply_transposed, groups, p);
}

void check_experts(const ExpertRows& groups, const ConstTensorView& weight) {
  check(groups.experts > 0 && weight.rows % groups.experts == 0, "experts share their weight tensor equally");
}

Product square_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.a = dense_view(static_cast<const void*>(a), NumberFormat::fp32, m, k),
          .b = dense_view(static_cast<const void*>(b), NumberFormat::fp32, k, n),
          .c = dense_view(static_cast<void*>(c), NumberFormat::fp32, m, n),
          .m = m,
          .n = n,
          .k = k};
}

void copy(float* to, const float* from, std::int64_t count, cudaStream_t stream) {
  require_launched(
      cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(float), cudaMemcpyDeviceToDevice, stream),
      "orthogonalise");
}

}  // namespace

Bytes matmul_workspace(const Matmul& /*args*/) { return Bytes(0); }
void matmul(const Matmul& args, cudaStream_t stream) { run("matmul", tiled_product(args), stream); }

Bytes linear_workspace(const LinearForward& /*args*/) { return Bytes(0); }
void linear_forward(const LinearForward& args, cudaStream_t stream) {
  run("linear_forward", tiled_product(product_of(args)), stream);
}

void linear_input_gradient(const LinearInputGradient& args, cudaStream_t stream) {
  run("linear_input_gradient", tiled_product(product_of(args)), stream);
}

void linear_weight_gradient(const LinearWeightGradient& args, cudaStream_t stream) {
  run("linear_weight_gradient", tiled_product(product_of(args)), stream);
  if (args.bias_gradient.is_there()) linear_bias_gradient(args, stream);
}

Bytes linear_workspace(const LinearWeightGradient& args) {
  return args.bias_gradient.is_there() ? row_parts_workspace(args.output_gradient.rows, args.bias_gradient.columns, 1)
                                       : Bytes(0);
}

void linear_bias_gradient(const LinearWeightGradient& args, cudaStream_t stream) {
  const ConstTensorView& dy = args.uncast_gradient.is_there() ? args.uncast_gradient : args.output_gradient;
  const LaunchShape sums = column_sum_shape(dy.columns);
  const RowParts divided = row_parts(dy.rows);
  const char* const name = "linear_weight_gradient of the bias";
  if (divided.parts == 1) return launch(name, sums, stream, bias_gradient, dy, args.bias_gradient, args.write);
  check(args.workspace.size >= linear_workspace(args), "the workspace is as large as the op's workspace function says");
  const bool is_vector = takes_vectors(dy);
  const auto kernel = is_vector ? bias_parts<vector_elements> : bias_parts<1>;
  launch(name, row_parts_shape(dy.rows, dy.columns, is_vector), stream, kernel, dy,
         static_cast<float*>(args.workspace.data), divided.rows);
  const ConstTensorView parts = part_rows(args.workspace, dy.rows, dy.columns, 0);
  launch("linear_weight_gradient of the bias's parts", sums, stream, bias_gradient, parts, args.bias_gradient,
         args.write);
}

Bytes grouped_linear_workspace(const GroupedLinearForward& /*args*/) { return Bytes(0); }
Bytes grouped_linear_workspace(const GroupedLinearInputGradient& /*args*/) { return Bytes(0); }
Bytes grouped_linear_workspace(const GroupedLinearWeightGradient& /*args*/) { return Bytes(0); }

void grouped_linear_forward(const GroupedLinearForward& args, cudaStream_t stream) {
  check_experts(args.groups, args.weight);
  const std::int64_t out = args.weight.rows / args.groups.experts;
  const Product p{.a = args.input,
                  .b = args.weight,
                  .c = args.output,
                  .bias = args.bias,
                  .transpose_b = Transpose::yes,
                  .m = args.input.rows,
                  .n = out,
                  .k = args.weight.columns};
  run_rows("grouped_linear_forward", args.groups, p, out, stream);
}

void grouped_linear_input_gradient(const GroupedLinearInputGradient& args, cudaStream_t stream) {
  check_experts(args.groups, args.weight);
  const std::int64_t out = args.weight.rows / args.groups.experts;
  const Product p{.a = args.output_gradient,
                  .b = args.weight,
                  .c = args.input_gradient,
                  .m = args.output_gradient.rows,
                  .n = args.weight.columns,
                  .k = out,
                  .beta = args.write == Write::accumulate ? 1.0F : 0.0F};
  run_rows("grouped_linear_input_gradient", args.groups, p, out, stream);
}

void grouped_linear_weight_gradient(const GroupedLinearWeightGradient& args, cudaStream_t stream) {
  check_experts(args.groups, args.weight_gradient);
  const Product p{.a = args.output_gradient,
                  .b = args.input,
                  .c = args.weight_gradient,
                  .transpose_a = Transpose::yes,
                  .m = args.weight_gradient.rows / args.groups.experts,
                  .n = args.weight_gradient.columns,
                  .beta = args.write == Write::accumulate ? 1.0F : 0.0F};
  run_inner("grouped_linear_weight_gradient", args.groups, p, stream);
  if (!args.bias_gradient.is_there()) return;
  launch("grouped_linear_weight_gradient of the bias",
         column_sum_shape(args.bias_gradient.columns, args.groups.experts), stream, expert_bias_gradients, args.groups,
         args.output_gradient, args.bias_gradient, args.write);
}

std::int64_t orthogonalise_scratch(std::int64_t rows, std::int64_t columns) {
  const std::int64_t side = std::min(rows, columns);
  return 2 * side * side + rows * columns;
}

// X -> a X + (b A + c A^2) X, with the coefficients that kernels/muon.h cites.
void orthogonalise(float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t iterations, float* scratch,
                   cudaStream_t stream) {
  const std::int64_t side = std::min(rows, columns);
  const bool is_wide = rows <= columns;
  float* square = scratch;
  float* polynomial = square + side * side;
  float* next = polynomial + side * side;
  launch("orthogonalise", {.grid = dim3(1), .block = dim3(whole_block)}, stream, normalise, matrix, rows * columns);
  for (std::int64_t step = 0; step < iterations; ++step) {
    Product gram = square_product(matrix, matrix, square, side, side, std::max(rows, columns));
    gram.a = gram.b = dense_view(static_cast<const void*>(matrix), NumberFormat::fp32, rows, columns);
    gram.transpose_a = is_wide ? Transpose::no : Transpose::yes;
    gram.transpose_b = is_wide ? Transpose::yes : Transpose::no;
    run("orthogonalise", gram, stream);
    copy(polynomial, square, side * side, stream);
    Product second = square_product(square, square, polynomial, side, side, side);
    second.alpha = 2.0315F;
    second.beta = -4.7750F;
    run("orthogonalise", second, stream);
    copy(next, matrix, rows * columns, stream);
    Product whole = is_wide ? square_product(polynomial, matrix, next, rows, columns, side)
                            : square_product(matrix, polynomial, next, rows, columns, side);
    whole.beta = 3.4445F;
    run("orthogonalise", whole, stream);
    copy(matrix, next, rows * columns, stream);
  }
}

Bytes muon_workspace(const MuonStep& args) {
  const TensorView& p = args.parameter.parameter;
  return Bytes((p.size() + orthogonalise_scratch(p.rows, p.columns)) * std::int64_t{sizeof(float)});
}

void muon_step(const MuonStep& args, cudaStream_t stream) {
  const TensorView& p = args.parameter.parameter;
  check(args.workspace.size >= muon_workspace(args), "the workspace is as large as the op's workspace function says");
  auto* direction = static_cast<float*>(args.workspace.data);
  muon_direction(args, direction, stream);
  orthogonalise(direction, p.rows, p.columns, args.iterations, direction + p.size(), stream);
  muon_apply(args, direction, p.rows, p.columns, stream);
}

}  // namespace plumbline::cuda
