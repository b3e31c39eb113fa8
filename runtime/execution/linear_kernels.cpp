// Embeddings, positions and linears.
#include <algorithm>

#include "core/sharding/product_format.h"
#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

/// One row, seen as many.
ConstTensorView repeated(ConstTensorView row, std::int64_t rows) {
  row.rows = rows;
  row.stride = 0;
  return row;
}

/// Rows of the position table, from that of position 0.
template <class View>
View from_first_position(const KernelCall& call, const View& table) {
  const std::int64_t first = call.parts.plan.constants.first_position;
  return table.rows_from(first, table.rows - first);
}

void linear_forward(const KernelCall& call) {
  const NumberFormat product = product_format(call.block, call.op, call.share.shard);
  const ConstTensorView x = call.parts.tables.operands.cast(call.view(0), product, ScratchUse::input, ScaleOf::row);
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const LinearPart& part = parts[i];
    const std::size_t y = call.inputs() + i;
    if (!call.has(y)) continue;  // a replay that skips it
    const ConstTensorView weight =
        call.parts.tables.operands.weight({call.execution, part.weight.index()}, call.weight(part.weight), product);
    const bool adds_bias = part.bias.is_valid() && !call.makes_part();
    LinearForward kernel{x, weight, adds_bias ? call.weight(part.bias) : ConstTensorView{}, call.view(y, part.output)};
    call.run(call.kernels().linear_forward, kernel);
  }
}

void add_bias(const KernelCall& call) {
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!call.has(i) || !parts[i].bias.is_valid()) continue;
    const TensorView sum = call.view(i, parts[i].output);
    call.kernels().add({sum, repeated(call.weight(parts[i].bias), sum.rows), sum});
  }
}

void linear_input_gradient(const KernelCall& call) {
  const TensorView dx = call.view(call.operand_count() - 1, call.op.inputs.front());
  const NumberFormat product = product_format(call.block, call.op, call.share.shard);
  Write write = call.instruction.accumulates ? Write::accumulate : Write::overwrite;
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ProductOperands::Oriented weight = call.parts.tables.operands.weight_of_gradient(
        {call.execution, parts[i].weight.index()}, call.weight(parts[i].weight), product);
    Matmul kernel{.a = call.parts.tables.operands.cast(call.view(i, parts[i].output), product, ScratchUse::gradient,
                                                       ScaleOf::row),
                  .b = weight.view,
                  .c = dx,
                  .transpose_b = weight.transpose,
                  .write = write};
    call.run(call.kernels().matmul, kernel);
    write = Write::accumulate;
  }
}

void linear_weight_gradient(const KernelCall& call) {
  const NumberFormat product = product_format(call.block, call.op, call.share.shard);
  const ConstTensorView x = call.parts.tables.operands.cast(call.view(0, call.op.inputs.front()), product,
                                                            ScratchUse::input, ScaleOf::column);
  const std::vector<LinearPart> parts = linear_parts(call.block, call.op);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorView weight = call.gradient(parts[i].weight);
    if (!weight.is_there()) continue;
    const ConstTensorView dy = call.view(1 + i, parts[i].output);
    LinearWeightGradient kernel{x, call.parts.tables.operands.cast(dy, product, ScratchUse::gradient, ScaleOf::column),
                                weight};
    kernel.uncast_gradient = dy;
    if (parts[i].bias.is_valid()) kernel.bias_gradient = call.gradient(parts[i].bias);
    call.run(call.kernels().linear_weight_gradient, kernel);
  }
}

}  // namespace

std::vector<LinearPart> linear_parts(const Block& block, const Op& op) {
  std::vector<LinearPart> parts;
  for (const TensorId id : op.parameters) {
    if (block.tensor(id).shape.size() >= 2)
      parts.push_back({op.outputs[parts.size()], id, TensorId()});
    else
      parts.back().bias = id;
  }
  return parts;
}

void keep_product_weights(const KernelParts& parts, const Block& block, std::int32_t execution) {
  for (const Op& op : block.ops()) {
    const NumberFormat product = product_format(block, op, parts.share.shard);
    if (op.kind != OpKind::linear || bits(product) != 8) continue;
    for (const LinearPart& part : linear_parts(block, op))
      parts.tables.operands.keep({execution, part.weight.index()},
                                 parts.parameters.weights.weight(execution, part.weight), product);
  }
}

void run_embedding(const KernelCall& call) {
  const auto first_row = [&](std::int64_t rows) {
    return call.makes_part() ? call.share.groups.index(Axis::tensor) * rows : 0;
  };
  const std::int32_t* tokens = call.parts.batches.at_hand().tokens;
  if (call.instruction.role == KernelRole::weight_gradient) {
    const TensorView table = call.gradient(call.op.parameters[0]);
    return call.kernels().embedding_backward({tokens, call.view(1), table, first_row(table.rows)});
  }
  const ConstTensorView table = call.weight(call.op.parameters[0]);
  call.kernels().embedding_forward({tokens, table, call.view(1), first_row(table.rows)});
}

void run_position_embedding(const KernelCall& call) {
  const bool is_sliced = call.is_sliced(call.op.outputs[0]);
  if (call.instruction.role == KernelRole::weight_gradient) {
    const ConstTensorView dy = call.view(1);
    const TensorView table = from_first_position(call, call.gradient(call.op.parameters[0]));
    return call.for_row_places(dy.rows, is_sliced, [&](RowPlace place, std::int64_t first, std::int64_t n) {
      call.kernels().position_embedding_backward({dy.rows_from(first, n), table, place});
    });
  }
  const ConstTensorView x = call.view(0);
  const TensorView y = call.view(1);
  const ConstTensorView table = from_first_position(call, call.weight(call.op.parameters[0]));
  call.for_row_places(x.rows, is_sliced, [&](RowPlace place, std::int64_t first, std::int64_t n) {
    call.kernels().position_embedding_forward({x.rows_from(first, n), table, y.rows_from(first, n), place});
  });
}

void run_linear(const KernelCall& call) {
  switch (call.instruction.role) {
    case KernelRole::forward: return linear_forward(call);
    case KernelRole::add_bias: return add_bias(call);
    case KernelRole::input_gradient: return linear_input_gradient(call);
    case KernelRole::weight_gradient: return linear_weight_gradient(call);
    default: check(false, "a linear has four kernels");
  }
}

}  // namespace plumbline
