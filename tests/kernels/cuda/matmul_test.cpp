#include "kernels/matmul.h"

#include "kernels/grouped_linear.h"
#include "kernels/linear.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

/// Workspaces of the reference's functions.
template <class Args>
struct Prepared {
  Prepared(Args a, Bytes size) : memory(size), args(a) { args.workspace = memory; }
  WorkspaceMemory memory;
  Args args;
};

struct MatmulCase {
  std::int64_t m, n, k;
  NumberFormat format;
  Transpose a, b;
  bool has_bias;
  Write write;
};

void check_matmul(cudaStream_t stream, const MatmulCase& c) {
  const bool is_a = c.a == Transpose::yes;
  const bool is_b = c.b == Transpose::yes;
  BothTensor a = random_both(is_a ? c.k : c.m, is_a ? c.m : c.k, 1, c.format, 1);
  BothTensor b = random_both(is_b ? c.n : c.k, is_b ? c.k : c.n, 2, c.format);
  BothTensor result = random_both(c.m, c.n, 3, c.format, 3);
  BothTensor bias = random_both(1, c.n, 4, c.format);
  Matmul host{a.host(), b.host(), result.host(), c.a, c.b, {}, c.write};
  Matmul device{a.device(), b.device(), result.device(), c.a, c.b, {}, c.write};
  if (c.has_bias) host.bias = bias.host();
  if (c.has_bias) device.bias = bias.device();
  reference::matmul(Prepared<Matmul>(host, reference::matmul_workspace(host)).args);
  cuda::matmul(device, stream);
  finish(stream);
  CHECK(result.error() <= 4 * tolerance(c.format));
}

TEST_CASE("products are the CPU's, for odd sizes, all transpositions, formats, with bias and accumulating") {
  on_both([](cudaStream_t stream) {
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 67}, {67, 65, 17}, {130, 3, 33}})
      for (const Transpose a : {Transpose::no, Transpose::yes})
        for (const Transpose b : {Transpose::no, Transpose::yes}) {
          check_matmul(stream, {m, n, k, NumberFormat::fp32, a, b, true, Write::overwrite});
          check_matmul(stream, {m, n, k, NumberFormat::bf16, a, b, false, Write::accumulate});
          check_matmul(stream, {m, n, k, NumberFormat::fp16, a, b, true, Write::accumulate});
        }
  });
}

TEST_CASE("operands that do not fit each other are refused before anything runs") {
  const cuda_on_cpu::TestDevice device;
  const cuda_on_cpu::TestStream stream;
  BothTensor a = random_both(3, 5, 1);
  BothTensor b = random_both(4, 7, 2);
  BothTensor c = random_both(3, 7, 3);
  CHECK_THROWS_AS(cuda::matmul({.a = a.device(), .b = b.device(), .c = c.device()}, stream), InternalError);
}

void check_linear(cudaStream_t stream, NumberFormat format) {
  BothTensor x = random_both(67, 5, 1, format, 1);
  BothTensor w = random_both(33, 5, 2, format);
  BothTensor bias = random_both(1, 33, 3, format);
  BothTensor y = random_both(67, 33, 4, format);
  BothTensor dx = random_both(67, 5, 5, format);
  BothTensor dw = random_both(33, 5, 6);
  BothTensor db = random_both(1, 33, 7);
  const LinearForward forward{x.host(), w.host(), bias.host(), y.host()};
  reference::linear_forward(Prepared<LinearForward>(forward, reference::linear_workspace(forward)).args);
  cuda::linear_forward({x.device(), w.device(), bias.device(), y.device()}, stream);
  const LinearInputGradient input{y.host(), w.host(), dx.host(), Write::accumulate};
  reference::linear_input_gradient(Prepared<LinearInputGradient>(input, reference::linear_workspace(input)).args);
  cuda::linear_input_gradient({y.device(), w.device(), dx.device(), Write::accumulate}, stream);
  const LinearWeightGradient weight{x.host(), y.host(), dw.host(), db.host()};
  reference::linear_weight_gradient(Prepared<LinearWeightGradient>(weight, reference::linear_workspace(weight)).args);
  cuda::linear_weight_gradient({x.device(), y.device(), dw.device(), db.device()}, stream);
  finish(stream);
  CHECK(y.error() <= 4 * tolerance(format));
  CHECK(dx.error() <= 4 * tolerance(format));
  CHECK(dw.error() <= 4 * tolerance(format));
  CHECK(db.error() <= 4 * tolerance(format));
}

TEST_CASE("a linear layer and its gradients are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const NumberFormat format : float_formats) check_linear(stream, format);
  });
}

struct Grouped {
  explicit Grouped(NumberFormat format)
      : counts(std::vector<std::int64_t>{3, 0, 70, 1}),
        x(random_both(74, 5, 1, format, 1)),
        w(random_both(4 * 67, 5, 2, format)),
        bias(random_both(4, 67, 3, format)),
        y(random_both(74, 67, 4, format)),
        dx(random_both(74, 5, 5, format)),
        dw(random_both(4 * 67, 5, 6)),
        db(random_both(4, 67, 7)) {}
  BothArray<std::int64_t> counts;
  BothTensor x, w, bias, y, dx, dw, db;
};

void check_grouped(cudaStream_t stream, NumberFormat format, Write write) {
  Grouped g(format);
  const ExpertRows host_rows{4, g.counts.host()};
  const ExpertRows rows{4, g.counts.device()};
  const GroupedLinearForward forward{host_rows, g.x.host(), g.w.host(), g.bias.host(), g.y.host()};
  reference::grouped_linear_forward(
      Prepared<GroupedLinearForward>(forward, reference::grouped_linear_workspace(forward)).args);
  cuda::grouped_linear_forward({rows, g.x.device(), g.w.device(), g.bias.device(), g.y.device()}, stream);
  const GroupedLinearInputGradient input{host_rows, g.y.host(), g.w.host(), g.dx.host(), write};
  reference::grouped_linear_input_gradient(
      Prepared<GroupedLinearInputGradient>(input, reference::grouped_linear_workspace(input)).args);
  cuda::grouped_linear_input_gradient({rows, g.y.device(), g.w.device(), g.dx.device(), write}, stream);
  const GroupedLinearWeightGradient weight{host_rows, g.x.host(), g.y.host(), g.dw.host(), g.db.host(), write};
  reference::grouped_linear_weight_gradient(
      Prepared<GroupedLinearWeightGradient>(weight, reference::grouped_linear_workspace(weight)).args);
  cuda::grouped_linear_weight_gradient({rows, g.x.device(), g.y.device(), g.dw.device(), g.db.device(), write}, stream);
  finish(stream);
  for (BothTensor* tensor : {&g.y, &g.dx, &g.dw, &g.db}) CHECK(tensor->error() <= 4 * tolerance(format));
}

TEST_CASE("experts' linear layers and their gradients are the CPU's, with an expert without rows") {
  on_both([](cudaStream_t stream) {
    for (const NumberFormat format : float_formats)
      for (const Write write : {Write::overwrite, Write::accumulate}) check_grouped(stream, format, write);
  });
}

}  // namespace
}  // namespace plumbline
