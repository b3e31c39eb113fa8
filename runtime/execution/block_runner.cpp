#include "runtime/execution/block_runner.h"

#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/embedding.h"
#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/relu.h"

namespace plumbline {
namespace {

std::size_t slot(TensorId id) { return static_cast<std::size_t>(id.index()); }
std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }

bool is_routed(const Tensor& tensor) {
  return tensor.partition == Partition::routed || tensor.partition == Partition::routed_tensor;
}
/// Operators whose outputs are bound when they know how many rows they have, and what left the rank is gone.
bool binds_late(const Op& op) { return op.kind == OpKind::dispatch || op.kind == OpKind::combine; }
bool is_product(const Op& op) {
  return op.kind == OpKind::linear || op.kind == OpKind::grouped_linear || op.kind == OpKind::router;
}

Gelu gelu_form(Activation activation) { return activation == Activation::gelu_erf ? Gelu::erf : Gelu::tanh; }

/// Admission lets no other operator in.
constexpr std::string_view is_executed = "an operator of an admitted network is executed";

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

BlockRunner::BlockRunner(RankEnvironment& environment, const Block& block, const KeepRule& rule, std::int32_t execution,
                         BlockState& state)
    : env_(environment),
      block_(block),
      rule_(rule),
      execution_(execution),
      state_(state),
      entered_(block.tensors().size()),
      partial_(block.tensors().size()),
      position_(block.ops().size()) {
  state_.tensors.resize(block.tensors().size());
  state_.side.resize(block.ops().size());
  state_.gradients.resize(block.tensors().size());
  for (std::size_t i = 0; i < block.ops().size(); ++i)
    position_[slot(block.execution_order()[i])] = static_cast<std::int32_t>(i);
}

std::int64_t BlockRunner::rows(TensorId id) const {
  const Tensor& tensor = block_.tensor(id);
  return is_routed(tensor) ? state_.arrivals.rows() : local_rows(tensor, env_.shard);
}
std::int64_t BlockRunner::columns(TensorId id) const {
  const Tensor& tensor = block_.tensor(id);
  return local_elements(tensor, env_.shard) / std::max<std::int64_t>(1, local_rows(tensor, env_.shard));
}
std::int64_t BlockRunner::whole_rows(TensorId id) const {
  return is_sliced(id) ? rows(id) * env_.shard.tensor_parallel : rows(id);
}
bool BlockRunner::is_logits(TensorId id) const {
  const auto& readers = block_.consumers(id);
  return std::any_of(readers.begin(), readers.end(),
                     [&](OpId reader) { return block_.op(reader).kind == OpKind::cross_entropy; });
}
NumberFormat BlockRunner::format(TensorId id) const {
  return is_logits(id) ? NumberFormat::fp32 : storage_format(block_.tensor(id), env_.formats);
}
bool BlockRunner::is_sliced(TensorId id) const {
  return env_.slices_tokens() && block_.tensor(id).partition == Partition::sequence;
}
bool BlockRunner::trains(const Op& op) const {
  return std::any_of(op.parameters.begin(), op.parameters.end(),
                     [&](TensorId id) { return block_.tensor(id).trainable; });
}

const Held& BlockRunner::held(TensorId id) const {
  const Held& buffer = state_.tensors[slot(id)];
  check(buffer != nullptr, "a tensor is there when it is read: " + block_.tensor(id).name);
  return buffer;
}

TensorView BlockRunner::view(const Held& buffer, TensorId like) const {
  const NumberFormat number = format(like);
  const std::int64_t width = columns(like);
  return dense_view(static_cast<void*>(buffer->data()), number, buffer->bytes().value() * 8 / bits(number) / width,
                    width);
}

void BlockRunner::accept_inputs(std::vector<Held> inputs) {
  check(inputs.size() == block_.inputs().size(), "a block gets its inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = block_.inputs()[i];
    inputs[i]->count_as(rule_.keeps_tensor[slot(id)] ? MemoryClass::activations : MemoryClass::working_buffers);
    state_.tensors[slot(id)] = std::move(inputs[i]);
  }
}

void BlockRunner::run(Round round) {
  round_ = round;
  for (const OpId id : block_.execution_order()) {
    if (round == Round::again && !rule_.replays[slot(id)]) continue;
    run_op(id);
    release_after(id);
    release_entered(id);
  }
}

std::vector<Held> BlockRunner::forward() {
  run(Round::first);
  std::vector<Held> outputs;
  for (const TensorId id : block_.outputs()) {
    if (block_.kind() == BlockKind::output) continue;
    outputs.push_back(held(id));
    if (!rule_.keeps_tensor[slot(id)]) state_.tensors[slot(id)] = nullptr;
  }
  return outputs;
}

void BlockRunner::replay() { run(Round::again); }

/// Gathered rows that no later column-parallel linear reads in this round.
void BlockRunner::release_entered(OpId id) {
  for (const TensorId input : block_.op(id).inputs) {
    const auto& readers = block_.consumers(input);
    const bool is_read_later = std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
      return enters_region(block_.op(reader)) && position_[slot(reader)] > position_[slot(id)] &&
             (round_ == Round::first || rule_.replays[slot(reader)]);
    });
    if (!is_read_later) entered_[slot(input)] = nullptr;
  }
}

/// Values that nobody reads any more, in this round or in the backward.
void BlockRunner::release_after(OpId id) {
  const auto reads_later = [&](TensorId tensor) {
    const auto& readers = block_.consumers(tensor);
    return std::any_of(readers.begin(), readers.end(), [&](OpId reader) {
      return position_[slot(reader)] > position_[slot(id)] && (round_ == Round::first || rule_.replays[slot(reader)]);
    });
  };
  const auto release = [&](TensorId tensor) {
    const bool is_output = round_ == Round::first && std::find(block_.outputs().begin(), block_.outputs().end(),
                                                               tensor) != block_.outputs().end();
    const bool stays = rule_.keeps_tensor[slot(tensor)] || is_output || is_logits(tensor) ||
                       (round_ == Round::again && rule_.restores_tensor[slot(tensor)]);
    if (!stays && !reads_later(tensor)) state_.tensors[slot(tensor)] = nullptr;
  };
  const Op& op = block_.op(id);
  for (const TensorId tensor : op.inputs) release(tensor);
  for (const TensorId tensor : op.outputs) release(tensor);
}

MemoryClass BlockRunner::class_of(TensorId output) const {
  if (is_logits(output)) return MemoryClass::logits_and_loss;
  const bool keeps = round_ == Round::first && rule_.keeps_tensor[slot(output)];
  return keeps ? MemoryClass::activations : MemoryClass::working_buffers;
}
MemoryClass BlockRunner::class_of_side(OpId op) const {
  const bool keeps = round_ == Round::first && rule_.keeps_side[slot(op)];
  return keeps ? MemoryClass::activations : MemoryClass::working_buffers;
}

bool BlockRunner::leaves_region(const Op& op) const {
  if (op.kind == OpKind::embedding) return block_.tensor(op.parameters.front()).partition == Partition::tensor;
  return op.kind == OpKind::linear && std::get<LinearAttributes>(op.attributes).partition == WeightPartition::row;
}
bool BlockRunner::enters_region(const Op& op) {
  return op.kind == OpKind::linear && std::get<LinearAttributes>(op.attributes).partition == WeightPartition::column;
}

/// What was made again although it is still there serves nobody.
void BlockRunner::store(OpId id, std::vector<Held> out, SideBuffers side) {
  const Op& op = block_.op(id);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Held& place = state_.tensors[slot(op.outputs[i])];
    if (!place) place = std::move(out[i]);
  }
  const bool is_loss = op.kind == OpKind::cross_entropy;
  const bool stays = round_ == Round::first ? rule_.keeps_side[slot(id)] || is_loss : rule_.restores_side[slot(id)];
  if (stays) state_.side[slot(id)] = std::move(side);
}

void BlockRunner::run_op(OpId id) {
  const Op& op = block_.op(id);
  std::vector<Held> out;
  for (const TensorId output : op.outputs) {
    if (op.kind == OpKind::cross_entropy) break;
    if (skips(output) || binds_late(op) || (is_sliced(output) && leaves_region(op))) {
      out.push_back(nullptr);  // of a region: when the whole rows are summed
      continue;
    }
    out.push_back(bind(class_of(output), bytes(output)));
  }
  SideBuffers side;
  switch (op.kind) {
    case OpKind::embedding: embedding_forward(op, out); break;
    case OpKind::position_embedding: position_forward(op, out); break;
    case OpKind::linear: linear_forward(op, out); break;
    case OpKind::grouped_linear: grouped_forward(op, out); break;
    case OpKind::router: router_forward(id, op, out[0], side); break;
    case OpKind::dispatch: dispatch_forward(op, out[0]); break;
    case OpKind::combine: combine_forward(id, op, out[0], side); break;
    case OpKind::layer_norm:
    case OpKind::rms_norm: norm_forward(id, op, out, side); break;
    case OpKind::attention: attention_forward(id, op, out, side); break;
    case OpKind::activation: activation_forward(op, out[0]); break;
    case OpKind::gated_activation:
      reference::swiglu_forward({value(op.inputs[0]), value(op.inputs[1]), view(out[0], op.outputs[0])});
      break;
    case OpKind::rotary: rotary(op, held(op.inputs[0]), out[0], Rotation::forward); break;
    case OpKind::dropout: dropout_forward(id, op, out[0], side); break;
    case OpKind::add: reference::add({value(op.inputs[0]), value(op.inputs[1]), view(out[0], op.outputs[0])}); break;
    case OpKind::cross_entropy: loss_forward(op, side); break;
    default: check(false, is_executed);
  }
  store(id, std::move(out), std::move(side));
}

std::vector<Held> BlockRunner::backward(BackwardPart part, std::vector<Held> output_gradients) {
  std::size_t next = 0;
  for (const TensorId id : block_.outputs())
    if (block_.kind() != BlockKind::output) gradient(id) = std::move(output_gradients[next++]);
  const std::vector<OpId>& order = block_.execution_order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) backward_op(*id, part);
  std::vector<Held> inputs;
  for (const TensorId id : block_.inputs()) inputs.push_back(std::move(gradient(id)));
  return inputs;
}

/// Weight gradients read inputs of products, and logits, which are their own gradients; the rest goes.
void BlockRunner::keep_for_weights() {
  std::vector<bool> needed(state_.tensors.size(), false);
  bool needs_logits = false;
  for (const DeferredGradient& deferred : state_.deferred) {
    const Op& op = block_.op(OpId(deferred.op));
    if (!is_product(op)) continue;
    needed[slot(op.inputs[0])] = true;
    needs_logits = needs_logits || is_logits(op.outputs[0]);
  }
  for (std::size_t t = 0; t < needed.size(); ++t)
    if (needed[t]) state_.tensors[t]->count_as(MemoryClass::activations);
  for (std::size_t t = 0; t < needed.size(); ++t) {
    const TensorId id(static_cast<std::int32_t>(t));
    if (!needed[t] && !(needs_logits && is_logits(id))) state_.tensors[t] = nullptr;
  }
  for (const OpId id : block_.execution_order())
    if (!needs_logits || block_.op(id).kind != OpKind::cross_entropy) state_.side[slot(id)] = {};
  for (Held& gradient : state_.gradients) gradient = nullptr;
}

void BlockRunner::backward_op(OpId id, BackwardPart part) {
  const Op& op = block_.op(id);
  const bool any_input = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) { return carries(t); });
  if (!any_input && !trains(op)) return;
  if (op.kind != OpKind::cross_entropy)
    for (const TensorId output : op.outputs) check(gradient(output) != nullptr, "a gradient is there: " + op.name);
  switch (op.kind) {
    case OpKind::embedding:
      if (part == BackwardPart::inputs)
        defer(id, {whole_gradient(std::move(gradient(op.outputs[0])), op.outputs[0])});
      else
        embedding_backward(op, whole_gradient(std::move(gradient(op.outputs[0])), op.outputs[0]));
      break;
    case OpKind::position_embedding: {
      if (trains(op) && part == BackwardPart::all) position_backward(op, gradient(op.outputs[0]));
      if (trains(op) && part == BackwardPart::inputs) defer(id, {gradient(op.outputs[0])});
      if (carries(op.inputs[0])) contribute(op.inputs[0], gradient(op.outputs[0]));
      break;
    }
    case OpKind::linear: linear_backward(id, op, part); break;
    case OpKind::grouped_linear: grouped_backward(id, op, part); break;
    case OpKind::router: router_backward(id, op, part); break;
    case OpKind::dispatch: dispatch_backward(op); break;
    case OpKind::combine: combine_backward(id, op); break;
    case OpKind::layer_norm:
    case OpKind::rms_norm: norm_backward(id, op, part); break;
    case OpKind::attention: attention_backward(id, op); break;
    case OpKind::activation:
    case OpKind::gated_activation: activation_backward(op); break;
    case OpKind::rotary: {
      Held dx = working(bytes(op.inputs[0]));
      rotary(op, gradient(op.outputs[0]), dx, Rotation::backward);
      contribute(op.inputs[0], std::move(dx));
      break;
    }
    case OpKind::dropout: dropout_backward(id, op); break;
    case OpKind::add:
      for (const TensorId input : op.inputs)
        if (carries(input)) contribute(input, gradient(op.outputs[0]));
      break;
    case OpKind::cross_entropy: gradient(op.inputs[0]) = held(op.inputs[0]); break;
    default: check(false, is_executed);
  }
  if (op.kind != OpKind::cross_entropy)
    for (const TensorId output : op.outputs) gradient(output) = nullptr;
}

void BlockRunner::backward_weight() {
  for (DeferredGradient& deferred : state_.deferred) {
    const Op& op = block_.op(OpId(deferred.op));
    switch (op.kind) {
      case OpKind::embedding: embedding_backward(op, deferred.of_outputs.front()); break;
      case OpKind::position_embedding: position_backward(op, deferred.of_outputs.front()); break;
      case OpKind::layer_norm:
      case OpKind::rms_norm: add_deferred_norm(op, deferred.of_outputs.front()); break;
      case OpKind::grouped_linear: grouped_weight_gradient(op, deferred.of_outputs); break;
      default:
        linear_weight_gradient(op, deferred.of_outputs);
        if (!is_entered_before(op.inputs[0], OpId(deferred.op))) entered_[slot(op.inputs[0])] = nullptr;
    }
    deferred.of_outputs.clear();
  }
}

/// What waits for the pass that makes weight gradients counts as an activation. Logits stay what they are.
void BlockRunner::defer(OpId id, std::vector<Held> made) {
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!is_logits(block_.op(id).outputs[std::min(i, block_.op(id).outputs.size() - 1)]))
      made[i]->count_as(MemoryClass::activations);
  state_.deferred.push_back({id.index(), std::move(made)});
}

void BlockRunner::contribute(TensorId tensor, Held fresh) {
  Held& sum = gradient(tensor);
  if (!sum) {
    sum = std::move(fresh);
    return;
  }
  // Two holders of a buffer may need its old content; then the sum has memory of its own.
  Held into = fresh.use_count() == 1 ? fresh : sum.use_count() == 1 ? sum : working(sum->bytes());
  reference::add({view(sum, tensor), view(fresh, tensor), view(into, tensor)});
  sum = std::move(into);
}

void BlockRunner::activation_forward(const Op& op, const Held& out) {
  const ConstTensorView x = value(op.inputs[0]);
  const TensorView y = view(out, op.outputs[0]);
  if (env_.constants.activation == Activation::relu) return reference::relu_forward({x, y});
  reference::gelu_forward({x, y, gelu_form(env_.constants.activation)});
}

void BlockRunner::activation_backward(const Op& op) {
  const ConstTensorView dy = view(gradient(op.outputs[0]), op.outputs[0]);
  if (op.kind == OpKind::activation) {
    Held dx = working(bytes(op.inputs[0]));
    const ConstTensorView x = value(op.inputs[0]);
    if (env_.constants.activation == Activation::relu)
      reference::relu_backward({dy, x, view(dx, op.inputs[0])});
    else
      reference::gelu_backward({dy, x, view(dx, op.inputs[0]), gelu_form(env_.constants.activation)});
    return contribute(op.inputs[0], std::move(dx));
  }
  Held gate = working(bytes(op.inputs[0]));
  Held up = working(bytes(op.inputs[1]));
  reference::swiglu_backward(
      {dy, value(op.inputs[0]), value(op.inputs[1]), view(gate, op.inputs[0]), view(up, op.inputs[1])});
  contribute(op.inputs[0], std::move(gate));
  contribute(op.inputs[1], std::move(up));
}

}  // namespace plumbline
