#include "kernels/linear.h"

#include "kernels/linear_product.h"
#include "kernels/reference/column_sum.h"

namespace plumbline::reference {

Bytes linear_workspace(const LinearForward& args) { return matmul_workspace(product_of(args)); }
Bytes linear_workspace(const LinearInputGradient& args) { return matmul_workspace(product_of(args)); }
Bytes linear_workspace(const LinearWeightGradient& args) { return matmul_workspace(product_of(args)); }

void linear_forward(const LinearForward& args) { matmul(product_of(args)); }
void linear_input_gradient(const LinearInputGradient& args) { matmul(product_of(args)); }

void linear_weight_gradient(const LinearWeightGradient& args) {
  matmul(product_of(args));
  if (!args.bias_gradient.is_there()) return;
  const ConstTensorView& dy = args.uncast_gradient.is_there() ? args.uncast_gradient : args.output_gradient;
  column_sums(args.bias_gradient, dy.rows, args.write,
              [&](std::int64_t row, std::int64_t begin, std::int64_t count, double* sums) {
                Chunk chunk;
                const float* values = load(dy, row, begin, count, chunk);
                for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
              });
}

}  // namespace plumbline::reference
