// Operators inside of regions or on single tokens: norms, attention, rotary positions, dropout, the loss.
#include <cmath>

#include "kernels/cross_entropy.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm.h"
#include "kernels/rms_norm.h"
#include "kernels/rotary.h"
#include "kernels/unfused_attention.h"
#include "runtime/execution/block_runner.h"
#include "runtime/execution/rotary_frequencies.h"

namespace plumbline {
namespace {

std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }

Bytes fp32_bytes(std::int64_t count) { return storage(count, NumberFormat::fp32); }
float* floats(const Held& buffer) { return reinterpret_cast<float*>(buffer->data()); }

/// The same memory as rows of another width.
template <class View>
View reshaped(View view, std::int64_t width) {
  view.rows = view.rows * view.columns / width;
  view.columns = view.stride = width;
  return view;
}

}  // namespace

void BlockRunner::norm_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side) {
  const ConstTensorView weight = env_.parameters.weight(execution_, op.parameters[0]);
  const ConstTensorView x = reshaped(value(op.inputs[0]), weight.columns);
  const TensorView y = reshaped(view(out[0], op.outputs[0]), weight.columns);
  const bool is_layer_norm = op.kind == OpKind::layer_norm;
  side[0] = bind(class_of_side(id), fp32_bytes(x.rows * (is_layer_norm ? 2 : 1)));
  float* statistics = floats(side[0]);
  if (!is_layer_norm) return reference::rms_norm_forward({x, weight, y, statistics, env_.constants.norm_epsilon});
  reference::layer_norm_forward({x, weight, env_.parameters.weight(execution_, op.parameters[1]), y, statistics,
                                 statistics + x.rows, env_.constants.norm_epsilon});
}

void BlockRunner::norm_backward(OpId id, const Op& op, BackwardPart part) {
  const ConstTensorView weight = env_.parameters.weight(execution_, op.parameters[0]);
  const ConstTensorView x = reshaped(value(op.inputs[0]), weight.columns);
  const ConstTensorView dy = reshaped(view(gradient(op.outputs[0]), op.outputs[0]), weight.columns);
  const Held& side = state_.side[slot(id)][0];
  check(side != nullptr, "a norm has its statistics");
  float* statistics = floats(side);
  Held dx;
  TensorView dx_view;
  if (carries(op.inputs[0])) {
    dx = working(bytes(op.inputs[0]));
    dx_view = reshaped(view(dx, op.inputs[0]), weight.columns);
  }
  std::array<TensorView, 2> made{};
  Held deferred;
  if (trains(op) && part == BackwardPart::inputs) {
    const auto parameters = static_cast<std::int64_t>(op.parameters.size());
    const NumberFormat number = env_.formats.gradient;
    deferred = bind(MemoryClass::activations, storage(parameters * weight.columns, number));
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
      made[i] = dense_view(static_cast<void*>(deferred->data()), number, parameters, weight.columns)
                    .rows_from(static_cast<std::int64_t>(i), 1);
  } else {
    for (std::size_t i = 0; i < op.parameters.size(); ++i)
      made[i] = env_.parameters.gradient(execution_, op.parameters[i]);
  }
  const Write write = deferred ? Write::overwrite : Write::accumulate;
  if (op.kind == OpKind::rms_norm)
    reference::rms_norm_backward({dy, x, weight, statistics, dx_view, made[0], write});
  else
    reference::layer_norm_backward({dy, x, weight, statistics, statistics + x.rows, dx_view, made[0], made[1], write});
  if (deferred) defer(id, {std::move(deferred)});
  if (dx) contribute(op.inputs[0], std::move(dx));
}

void BlockRunner::add_deferred_norm(const Op& op, const Held& made) {
  for (std::size_t i = 0; i < op.parameters.size(); ++i) {
    const TensorView sum = env_.parameters.gradient(execution_, op.parameters[i]);
    const TensorView of_pass = dense_view(static_cast<void*>(made->data()), env_.formats.gradient,
                                          static_cast<std::int64_t>(op.parameters.size()), sum.columns)
                                   .rows_from(static_cast<std::int64_t>(i), 1);
    reference::add({sum, of_pass, sum});
  }
}

void BlockRunner::rotary(const Op& op, const Held& from, const Held& to, Rotation turn) const {
  const Tensor& tensor = block_.tensor(op.inputs[0]);
  const std::int64_t units = std::max<std::int64_t>(1, tensor.partition_units);
  const std::int64_t head_dim = tensor.shape.back().factor / units;
  const std::int64_t rotary_dim = rotary_features(env_.constants.rotary, head_dim);
  const std::vector<float> frequencies = rotary_frequencies(env_.constants.rotary, rotary_dim);
  const ConstTensorView x = view(from, op.inputs[0]);
  const TensorView y = view(to, op.inputs[0]);
  env_.for_row_places(x.rows, false, [&](RowPlace place, std::int64_t first, std::int64_t n) {
    reference::rotary(
        {x.rows_from(first, n), y.rows_from(first, n), frequencies.data(), head_dim, rotary_dim, place, turn});
  });
}

DropoutDraw BlockRunner::draw(OpId id) const {
  constexpr std::uint32_t most_ops = 4096;  // of a block, so that every op of a network has a number of its own
  const DropoutConstants& p = env_.constants.dropout;
  const bool is_of_scores = block_.op(id).kind == OpKind::attention;
  return {env_.is_evaluating                  ? 0.0F
          : is_of_scores                      ? p.attention
          : block_.kind() == BlockKind::input ? p.embedding
                                              : p.residual,
          {env_.seed, static_cast<std::uint32_t>(execution_) * most_ops + static_cast<std::uint32_t>(id.index()), 0}};
}

void BlockRunner::dropout_forward(OpId id, const Op& op, const Held& out, SideBuffers& side) {
  const ConstTensorView x = value(op.inputs[0]);
  const TensorView y = view(out, op.outputs[0]);
  side[0] = bind(class_of_side(id), storage(x.size(), NumberFormat::int8));
  auto* mask = reinterpret_cast<std::uint8_t*>(side[0]->data());
  const Tensor& tensor = block_.tensor(op.inputs[0]);
  const bool is_divided = tensor.partition == Partition::tensor;
  const std::int64_t first_column = is_divided ? env_.groups.index(Axis::tensor) * x.columns : 0;
  env_.for_row_places(x.rows, is_sliced(op.inputs[0]), [&](RowPlace place, std::int64_t first, std::int64_t n) {
    reference::dropout_forward({x.rows_from(first, n),
                                y.rows_from(first, n),
                                mask + first * x.columns,
                                draw(id),
                                {place, first_column, tensor.shape.back().factor}});
  });
}

void BlockRunner::dropout_backward(OpId id, const Op& op) {
  const TensorId x = op.inputs[0];
  Held dx = working(bytes(x));
  const Held& side = state_.side[slot(id)][0];
  check(side != nullptr, "a dropout has its mask");
  auto* mask = reinterpret_cast<std::uint8_t*>(side->data());
  reference::dropout_backward({view(gradient(op.outputs[0]), op.outputs[0]), view(dx, x), mask, draw(id), {}});
  contribute(x, std::move(dx));
}

void BlockRunner::loss_forward(const Op& op, SideBuffers& side) {
  const TensorId id = op.inputs[0];
  const TensorView logits = view(held(id), id);
  side[0] = bind(MemoryClass::logits_and_loss, fp32_bytes(3 * logits.rows));
  CrossEntropy call{logits, env_.batch.targets.data()};
  call.maximum = floats(side[0]);
  call.sum = call.maximum + logits.rows;
  call.target_logit = call.sum + logits.rows;
  call.logit_gradient = logits;
  call.gradient_scale = env_.gradient_scale;
  const bool is_divided = block_.tensor(id).partition == Partition::tensor;
  call.first_class = is_divided ? env_.groups.index(Axis::tensor) * logits.columns : 0;
  if (env_.on_logits) env_.on_logits(env_, logits, call.first_class);
  reference::cross_entropy_local_maximum(call);
  const auto bytes_of = [&](float* values, std::int64_t count) {
    return std::span<std::byte>(reinterpret_cast<std::byte*>(values),
                                static_cast<std::size_t>(fp32_bytes(count).value()));
  };
  if (is_divided) env_.tensor_all_reduce(bytes_of(call.maximum, logits.rows), NumberFormat::fp32, Reduction::maximum);
  reference::cross_entropy_local_sum(call);
  if (is_divided) env_.tensor_all_reduce(bytes_of(call.sum, 2 * logits.rows), NumberFormat::fp32);
  const CrossEntropyLoss loss = reference::cross_entropy_combine(call);
  env_.loss_sum += loss.sum;
  env_.loss_tokens += loss.tokens;
}

}  // namespace plumbline
