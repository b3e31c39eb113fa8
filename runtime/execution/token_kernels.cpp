// Operators on single tokens: norms, activations, rotary positions, dropout, the loss.
#include <array>

#include "core/graph/rotary_features.h"
#include "runtime/device/norm_kernels.h"
#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

/// The same memory as rows of another width.
template <class View>
View reshaped(View view, std::int64_t width) {
  view.rows = view.rows * view.columns / width;
  view.columns = view.stride = width;
  return view;
}

// Operands: x, y, statistics.
void run_norm_forward(const KernelCall& call) {
  const Op& op = call.op;
  const ConstTensorView weight = call.weight(op.parameters[0]);
  const ConstTensorView x = reshaped(call.view(0), weight.columns);
  const TensorView y = reshaped(call.view(1), weight.columns);
  const ConstTensorView bias = op.parameters.size() > 1 ? call.weight(op.parameters[1]) : ConstTensorView{};
  norm_forward(call.kernels(), op.kind, {x, weight, bias, y, call.floats(2), call.parts.plan.constants.norm_epsilon});
}

/// Rows of a buffer that holds gradients of an operator's parameters until they are added.
TensorView deferred_row(const KernelCall& call, std::size_t operand, std::size_t parameter, std::int64_t width) {
  const auto parameters = static_cast<std::int64_t>(call.op.parameters.size());
  return dense_view(static_cast<void*>(call.buffer(operand)->data()), call.share.shard.formats.gradient, parameters,
                    width)
      .rows_from(static_cast<std::int64_t>(parameter), 1);
}

// Operands: gradient of y, x, y, statistics, gradient of x or nothing; gradients of parameters that are added later.
void run_norm_backward(const KernelCall& call) {
  const Op& op = call.op;
  const bool defers = call.instruction.role == KernelRole::deferred_backward;
  const ConstTensorView weight = call.weight(op.parameters[0]);
  const ConstTensorView dy = reshaped(call.view(0), weight.columns);
  const ConstTensorView x = reshaped(call.view(1), weight.columns);
  TensorView dx;
  if (call.has(4)) dx = reshaped(call.view(4), weight.columns);
  std::array<TensorView, 2> made{};
  for (std::size_t i = 0; i < op.parameters.size(); ++i)
    made[i] = defers ? deferred_row(call, 5, i, weight.columns) : call.gradient(op.parameters[i]);
  const Write write = defers ? Write::overwrite : Write::accumulate;
  norm_backward(call.kernels(), op.kind, {dy, x, weight, call.floats(3), dx, made, write},
                [&](const auto& kernel, auto arguments) { call.run(kernel, arguments); });
}

void add_deferred(const KernelCall& call) {
  for (std::size_t i = 0; i < call.op.parameters.size(); ++i) {
    const TensorView sum = call.gradient(call.op.parameters[i]);
    call.kernels().add({sum, deferred_row(call, 0, i, sum.columns), sum});
  }
}

Gelu gelu_form(Activation activation) { return activation == Activation::gelu_erf ? Gelu::erf : Gelu::tanh; }

// Operands: x, y. Of a backward: gradient of y, x, y, gradient of x.
void plain_activation(const KernelCall& call) {
  const Activation activation = call.parts.plan.constants.activation;
  const bool is_relu = activation == Activation::relu;
  if (call.instruction.role == KernelRole::forward) {
    if (is_relu) return call.kernels().relu_forward({call.view(0), call.view(1)});
    return call.kernels().gelu_forward({call.view(0), call.view(1), gelu_form(activation)});
  }
  if (is_relu) return call.kernels().relu_backward({call.view(0), call.view(1), call.view(3)});
  call.kernels().gelu_backward({call.view(0), call.view(1), call.view(3), gelu_form(activation)});
}

// Operands: gate, up, y. Of a backward: gradient of y, gate, up, y, gradients of gate and up.
void gated_activation(const KernelCall& call) {
  if (call.instruction.role == KernelRole::forward)
    return call.kernels().swiglu_forward({call.view(0), call.view(1), call.view(2)});
  call.kernels().swiglu_backward({call.view(0), call.view(1), call.view(2), call.view(4), call.view(5)});
}

}  // namespace

void run_norm(const KernelCall& call) {
  switch (call.instruction.role) {
    case KernelRole::forward: return run_norm_forward(call);
    case KernelRole::add_deferred: return add_deferred(call);
    default: return run_norm_backward(call);
  }
}

void run_activation(const KernelCall& call) {
  call.op.kind == OpKind::activation ? plain_activation(call) : gated_activation(call);
}

// Operands: x, y. Of a backward: gradient of y, x, y, gradient of x.
void run_rotary(const KernelCall& call) {
  const bool is_forward = call.instruction.role == KernelRole::forward;
  const TensorId like = call.op.inputs[0];
  const Tensor& tensor = call.block.tensor(like);
  const std::int64_t units = std::max<std::int64_t>(1, tensor.partition_units);
  const std::int64_t head_dim = tensor.shape.back().factor / units;
  const std::int64_t rotary_dim = rotary_features(call.parts.plan.constants.rotary, head_dim);
  const float* const frequencies = call.parts.tables.rotary.frequencies(rotary_dim);
  const ConstTensorView from = call.view(0, like);
  const TensorView to = call.view(is_forward ? 1 : 3, like);
  const Rotation turn = is_forward ? Rotation::forward : Rotation::backward;
  call.for_row_places(from.rows, false, [&](RowPlace place, std::int64_t first, std::int64_t n) {
    call.kernels().rotary(
        {from.rows_from(first, n), to.rows_from(first, n), frequencies, head_dim, rotary_dim, place, turn});
  });
}

// Operands: x, y, mask. Of a backward: gradient of y, x, y, mask, gradient of x.
void run_dropout(const KernelCall& call) {
  if (call.instruction.role == KernelRole::backward) {
    auto* kept = reinterpret_cast<std::uint8_t*>(call.buffer(3)->data());
    return call.kernels().dropout_backward({call.view(0), call.view(4), kept, call.draw(), {}});
  }
  const ConstTensorView x = call.view(0);
  const TensorView y = call.view(1);
  auto* mask = reinterpret_cast<std::uint8_t*>(call.buffer(2)->data());
  const Tensor& tensor = call.block.tensor(call.op.inputs[0]);
  const bool is_divided = tensor.partition == Partition::tensor;
  const std::int64_t first_column = is_divided ? call.share.groups.index(Axis::tensor) * x.columns : 0;
  const bool is_sliced = call.is_sliced(call.op.inputs[0]);
  call.for_row_places(x.rows, is_sliced, [&](RowPlace place, std::int64_t first, std::int64_t n) {
    call.kernels().dropout_forward({x.rows_from(first, n),
                                    y.rows_from(first, n),
                                    mask + first * x.columns,
                                    call.draw(),
                                    {place, first_column, tensor.shape.back().factor}});
  });
}

// Operands: logits, maxima, sums.
void run_loss(const KernelCall& call) {
  const TensorView logits = call.view(0);
  const LocalBatch& batch = call.parts.batches.at_hand();
  const StepScalars& scalars = call.parts.values.scalars;
  CrossEntropy kernel{logits, batch.targets};
  kernel.maximum = call.floats(1);
  kernel.sum = call.floats(2);
  kernel.target_logit = kernel.sum + logits.rows;
  kernel.logit_gradient = logits;
  kernel.gradient_scale = call.parts.plan.gradient_scale();
  kernel.loss_scale = scalars.loss_scale();
  const bool is_divided = call.block.tensor(call.tensor(0)).partition == Partition::tensor;
  kernel.first_class = is_divided ? call.share.groups.index(Axis::tensor) * logits.columns : 0;
  switch (call.instruction.role) {
    case KernelRole::loss_maximum:
      if (const LogitsVisit& visit = call.parts.pass.on_logits)
        visit({call.share, logits, kernel.first_class, batch.first_sequence});
      return call.kernels().cross_entropy_local_maximum(kernel);
    case KernelRole::loss_sum: return call.kernels().cross_entropy_local_sum(kernel);
    default: break;
  }
  call.kernels().cross_entropy_add(kernel, &scalars.own()->loss);
}

}  // namespace plumbline
