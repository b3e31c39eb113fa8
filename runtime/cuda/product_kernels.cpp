#include "runtime/cuda/product_kernels.h"

#include <algorithm>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/linear_product.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/matrix_products.h"
#include "runtime/cuda/product_cuts.h"

namespace plumbline::library {
namespace {

bool is_found() { return cublaslt().problem.empty(); }

/// Of the thread's device, which it keeps.
MatrixProducts& products() {
  thread_local const auto own = std::make_unique<MatrixProducts>(cublaslt().functions, product_tuning());
  return *own;
}

bool is_fp8(const ConstTensorView& view) { return bits(view.format) == 8; }
bool turns_a(const Matmul& args) { return is_fp8(args.a) && args.transpose_a == Transpose::yes; }
bool turns_b(const Matmul& args) { return is_fp8(args.b) && args.transpose_b == Transpose::no; }

/// A copy of codes, aligned as the workspace is.
constexpr std::int64_t copy_alignment = 256;
Bytes turned_bytes(const ConstTensorView& view) {
  const std::int64_t bytes = storage(view.size(), view.format).value();
  return Bytes((bytes + copy_alignment - 1) / copy_alignment * copy_alignment);
}

/// Turns an operand in scratch memory. A code is copied as it is: without a scale it is a number of its own format.
ConstTensorView turned(ConstTensorView view, std::byte*& memory, cudaStream_t stream) {
  TensorView copy = dense_view(static_cast<void*>(memory), view.format, view.columns, view.rows);
  const float* const scale = view.scale;
  view.scale = nullptr;
  cuda::transpose({view, copy}, stream);
  memory += turned_bytes(view).value();
  copy.scale = scale;
  copy.scale_of = view.scale_of == ScaleOf::row      ? ScaleOf::column
                  : view.scale_of == ScaleOf::column ? ScaleOf::row
                                                     : ScaleOf::tensor;
  return copy;
}

/// False: nothing was computed.
bool multiply(ProductCall call, cudaStream_t stream) {
  if (!is_found()) return false;
  Matmul& args = call.matmul;
  auto* memory = static_cast<std::byte*>(args.workspace.data) + MatrixProducts::workspace().value();
  if (turns_a(args)) {
    args.a = turned(args.a, memory, stream);
    args.transpose_a = Transpose::no;
  }
  if (turns_b(args)) {
    args.b = turned(args.b, memory, stream);
    args.transpose_b = Transpose::yes;
  }
  args.workspace.size = MatrixProducts::workspace();
  const std::vector<ProductCall> parts = cut_product(call);
  if (!products().run(parts.front(), stream)) return false;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (!products().run(parts[i], stream)) cuda::matmul(parts[i].matmul, stream);
  return true;
}

}  // namespace

/// Scratch is asked for before the first step: the library's handle, which takes memory, is made there too.
Bytes matmul_workspace(const Matmul& args) {
  if (!is_found()) return cuda::matmul_workspace(args);
  (void)products();
  Bytes bytes = MatrixProducts::workspace();
  if (turns_a(args)) bytes += turned_bytes(args.a);
  if (turns_b(args)) bytes += turned_bytes(args.b);
  return bytes;
}
Bytes linear_workspace(const LinearForward& args) { return matmul_workspace(product_of(args)); }
/// The bias is summed when the product is done, in the same memory.
Bytes linear_workspace(const LinearWeightGradient& args) {
  return std::max(matmul_workspace(product_of(args)), cuda::linear_workspace(args));
}

void matmul(const Matmul& args) {
  if (!multiply({args}, current_stream())) cuda::matmul(args, current_stream());
}

void linear_forward(const LinearForward& args) {
  if (!multiply({product_of(args)}, current_stream())) cuda::linear_forward(args, current_stream());
}

void linear_weight_gradient(const LinearWeightGradient& args) {
  const cudaStream_t stream = current_stream();
  // What is summed is the gradient before it was cast.
  const bool is_cast = args.uncast_gradient.is_there() && args.uncast_gradient.format != args.output_gradient.format;
  const bool sums_itself = args.bias_gradient.is_there() && args.write == Write::overwrite && !is_cast;
  if (sums_itself && multiply({product_of(args), args.bias_gradient}, stream)) return;
  if (!multiply({product_of(args)}, stream)) return cuda::linear_weight_gradient(args, stream);
  if (args.bias_gradient.is_there()) cuda::linear_bias_gradient(args, stream);
}

}  // namespace plumbline::library
