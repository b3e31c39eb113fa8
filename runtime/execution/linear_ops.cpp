// Operators around tensor-parallel regions: embeddings, linears, positions.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/linear.h"
#include "kernels/matmul.h"
#include "runtime/execution/block_runner.h"

namespace plumbline {
namespace {

std::size_t slot(TensorId id) { return static_cast<std::size_t>(id.index()); }

/// One row, seen as many.
ConstTensorView repeated(ConstTensorView row, std::int64_t rows) {
  row.rows = rows;
  row.stride = 0;
  return row;
}

}  // namespace

void keep_product_weights(RankEnvironment& environment, const Block& block, std::int32_t execution) {
  for (const Op& op : block.ops()) {
    const NumberFormat product = product_format(block, op, environment.shard);
    if (op.kind != OpKind::linear || bits(product) != 8) continue;
    for (const LinearPart& part : linear_parts(block, op))
      environment.operands.keep({execution, part.weight.index()}, environment.parameters.weight(execution, part.weight),
                                product);
  }
}

Held BlockRunner::left_region(Held whole, TensorId output) {
  if (!is_sliced(output)) {
    env_.tensor_all_reduce(span_of(whole), format(output));
    return whole;
  }
  Held slice = bind(class_of(output), bytes(output));
  env_.tensor_reduce_scatter(span_of(whole), span_of(slice), format(output));
  return slice;
}

Held BlockRunner::whole_gradient(Held gradient, TensorId output) {
  if (!is_sliced(output)) return gradient;
  Held whole = working(gradient->bytes() * std::int64_t{env_.shard.tensor_parallel});
  env_.tensor_all_gather(span_of(gradient), span_of(whole), format(output));
  return whole;
}

ConstTensorView BlockRunner::entered(TensorId input) {
  if (!is_sliced(input)) return value(input);
  Held& whole = entered_[slot(input)];
  if (!whole) {
    whole = working(bytes(input) * std::int64_t{env_.shard.tensor_parallel});
    env_.tensor_all_gather(span_of(held(input)), span_of(whole), format(input));
  }
  return view(whole, input);
}

void BlockRunner::embedding_forward(const Op& op, std::vector<Held>& out) {
  const TensorId y = op.outputs[0];
  const ConstTensorView table = env_.parameters.weight(execution_, op.parameters[0]);
  const bool is_divided = leaves_region(op) && env_.shard.tensor_parallel > 1;
  Held whole = out[0] ? out[0] : working(bytes(y) * std::int64_t{env_.shard.tensor_parallel});
  const std::int64_t first = is_divided ? env_.groups.index(Axis::tensor) * table.rows : 0;
  reference::embedding_forward({env_.batch.tokens.data(), table, view(whole, y), first});
  out[0] = is_divided ? left_region(std::move(whole), y) : whole;
}

void BlockRunner::embedding_backward(const Op& op, const Held& gradient) {
  const TensorView table = env_.parameters.gradient(execution_, op.parameters[0]);
  const bool is_divided = leaves_region(op) && env_.shard.tensor_parallel > 1;
  const std::int64_t first = is_divided ? env_.groups.index(Axis::tensor) * table.rows : 0;
  reference::embedding_backward({env_.batch.tokens.data(), view(gradient, op.outputs[0]), table, first});
}

template <class View>
View BlockRunner::from_first_position(const View& table) const {
  const std::int64_t first = env_.constants.first_position;
  return table.rows_from(first, table.rows - first);
}

void BlockRunner::position_forward(const Op& op, const std::vector<Held>& out) {
  const ConstTensorView x = value(op.inputs[0]);
  const TensorView y = view(out[0], op.outputs[0]);
  const ConstTensorView table = from_first_position(env_.parameters.weight(execution_, op.parameters[0]));
  env_.for_row_places(x.rows, is_sliced(op.outputs[0]), [&](RowPlace place, std::int64_t first, std::int64_t n) {
    reference::position_embedding_forward({x.rows_from(first, n), table, y.rows_from(first, n), place});
  });
}

void BlockRunner::position_backward(const Op& op, const Held& gradient) {
  const ConstTensorView dy = view(gradient, op.outputs[0]);
  const TensorView table = from_first_position(env_.parameters.gradient(execution_, op.parameters[0]));
  env_.for_row_places(dy.rows, is_sliced(op.outputs[0]), [&](RowPlace place, std::int64_t first, std::int64_t n) {
    reference::position_embedding_backward({dy.rows_from(first, n), table, place});
  });
}

void BlockRunner::linear_forward(const Op& op, std::vector<Held>& out) {
  const bool leaves = leaves_region(op) && env_.shard.tensor_parallel > 1;
  const NumberFormat product = product_format(block_, op, env_.shard);
  const ConstTensorView x =
      env_.operands.cast(enters_region(op) ? entered(op.inputs[0]) : value(op.inputs[0]), product, ScratchUse::input);
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LinearPart& part = parts[i];
    if (skips(part.output)) continue;
    const ConstTensorView weight = env_.operands.weight({execution_, part.weight.index()},
                                                        env_.parameters.weight(execution_, part.weight), product);
    Held y = out[i] ? out[i] : working(bytes(part.output) * std::int64_t{env_.shard.tensor_parallel});
    const ConstTensorView bias =
        part.bias.is_valid() ? env_.parameters.weight(execution_, part.bias) : ConstTensorView{};
    LinearForward call{x, weight, leaves ? ConstTensorView{} : bias, view(y, part.output)};
    call.workspace = env_.backend.workspace(reference::linear_workspace(call));
    reference::linear_forward(call);
    out[i] = leaves ? left_region(std::move(y), part.output) : y;
    if (!leaves || !bias.is_there()) continue;
    const TensorView sum = view(out[i], part.output);
    reference::add({sum, repeated(bias, sum.rows), sum});
  }
}

bool BlockRunner::is_entered_before(TensorId input, OpId id) const {
  const auto& readers = block_.consumers(input);
  return std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
    return enters_region(block_.op(reader)) &&
           position_[static_cast<std::size_t>(reader.index())] < position_[static_cast<std::size_t>(id.index())];
  });
}

void BlockRunner::linear_backward(OpId id, const Op& op, BackwardPart part) {
  std::vector<Held> gradients;
  for (const TensorId output : op.outputs) {
    Held dy = std::move(gradient(output));
    gradients.push_back(leaves_region(op) ? whole_gradient(std::move(dy), output) : std::move(dy));
  }
  if (carries(op.inputs[0])) linear_input_gradient(id, op, gradients);
  if (!trains(op)) return;
  if (part == BackwardPart::inputs)
    defer(id, std::move(gradients));
  else
    linear_weight_gradient(op, gradients);
  if (!is_entered_before(op.inputs[0], id)) entered_[slot(op.inputs[0])] = nullptr;
}

void BlockRunner::linear_input_gradient(OpId id, const Op& op, const std::vector<Held>& gradients) {
  const TensorId x = op.inputs[0];
  const bool enters = enters_region(op) && env_.shard.tensor_parallel > 1;
  Held fresh = enters ? partial_[slot(x)] : nullptr;
  Write write = fresh ? Write::accumulate : Write::overwrite;
  if (!fresh) fresh = working(is_sliced(x) && enters ? bytes(x) * std::int64_t{env_.shard.tensor_parallel} : bytes(x));
  const NumberFormat product = product_format(block_, op, env_.shard);
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ProductOperands::Oriented weight = env_.operands.weight_of_gradient(
        {execution_, parts[i].weight.index()}, env_.parameters.weight(execution_, parts[i].weight), product);
    Matmul call{.a = env_.operands.cast(view(gradients[i], parts[i].output), product, ScratchUse::gradient),
                .b = weight.view,
                .c = view(fresh, x),
                .transpose_b = weight.transpose,
                .write = write};
    call.workspace = env_.backend.workspace(reference::matmul_workspace(call));
    reference::matmul(call);
    write = Write::accumulate;
  }
  if (!enters) return contribute(x, std::move(fresh));
  if (is_entered_before(x, id)) {
    partial_[slot(x)] = std::move(fresh);
    return;
  }
  partial_[slot(x)] = nullptr;
  if (!is_sliced(x)) {
    env_.tensor_all_reduce(span_of(fresh), format(x));
    return contribute(x, std::move(fresh));
  }
  Held slice = working(bytes(x));
  env_.tensor_reduce_scatter(span_of(fresh), span_of(slice), format(x));
  fresh = nullptr;
  contribute(x, std::move(slice));
}

void BlockRunner::linear_weight_gradient(const Op& op, const std::vector<Held>& gradients) {
  const NumberFormat product = product_format(block_, op, env_.shard);
  const ConstTensorView x =
      env_.operands.cast(enters_region(op) ? entered(op.inputs[0]) : value(op.inputs[0]), product, ScratchUse::input);
  const std::vector<LinearPart> parts = linear_parts(block_, op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorView weight = env_.parameters.gradient(execution_, parts[i].weight);
    if (!weight.is_there()) continue;
    const ConstTensorView dy = view(gradients[i], parts[i].output);
    LinearWeightGradient call{x, env_.operands.cast(dy, product, ScratchUse::gradient), weight};
    call.uncast_gradient = dy;
    if (parts[i].bias.is_valid()) call.bias_gradient = env_.parameters.gradient(execution_, parts[i].bias);
    call.workspace = env_.backend.workspace(reference::linear_workspace(call));
    reference::linear_weight_gradient(call);
  }
}

}  // namespace plumbline
