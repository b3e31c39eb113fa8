// Attention over context-parallel ranks: keys and values go round the ring, their gradients with them.
// Source: Liu et al., arXiv:2310.01889, algorithm 1. A gradient starts at the rank behind its owner and ends there, so
// both travel as many hops as core/cost/block_cost.h counts.
#include <cmath>

#include "kernels/attention.h"
#include "kernels/elementwise.h"
#include "runtime/execution/attention_call.h"
#include "runtime/execution/block_runner.h"

namespace plumbline {
namespace {

std::size_t slot(OpId id) { return static_cast<std::size_t>(id.index()); }
float* floats(const Held& buffer) { return reinterpret_cast<float*>(buffer->data()); }

constexpr std::int32_t key_value_tag = 0;
constexpr std::int32_t gradient_tag = 1;

/// Keys and values of one rank's tokens, or their gradients.
struct KeyValue {
  std::span<std::byte> key;
  std::span<std::byte> value;
};

/// A buffer for both, divided as `like` is.
KeyValue halves(std::span<std::byte> both, const KeyValue& like) {
  return {both.first(like.key.size()), both.subspan(like.key.size())};
}

/// The ring as one rank sees it.
struct Ring {
  Communicator& group;
  bool speaks;

  [[nodiscard]] std::int32_t size() const { return group.rank_set().size(); }
  [[nodiscard]] std::int32_t next() const { return (group.index() + 1) % size(); }
  [[nodiscard]] std::int32_t before() const { return (group.index() + size() - 1) % size(); }
  /// Whose keys are here after so many hops.
  [[nodiscard]] std::int32_t owner(std::int32_t hops) const { return (group.index() + size() - hops) % size(); }
  void send(std::span<const std::byte> data, std::int32_t tag) const {
    if (speaks) group.send(data, next(), tag);
  }
  void receive(std::span<std::byte> data, std::int32_t tag) const {
    if (speaks) group.receive(data, before(), tag);
  }
  /// One hop: what is here goes on, what comes stands in `arriving`.
  void pass(const KeyValue& leaving, const KeyValue& arriving) const {
    send(leaving.key, key_value_tag);
    send(leaving.value, key_value_tag);
    receive(arriving.key, key_value_tag);
    receive(arriving.value, key_value_tag);
  }
};

}  // namespace

void BlockRunner::ring_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side) {
  const auto& a = std::get<AttentionAttributes>(op.attributes);
  AttentionForward call;
  call.shape = attention_shape(a, env_);
  call.dropout = attention_dropout(a, draw(id), env_);
  const std::int64_t rows = call.shape.batch * call.shape.heads * call.shape.queries;
  side[0] = bind(class_of_side(id), storage(rows, NumberFormat::fp32));
  call.query = value(op.inputs[0]);
  call.key = value(op.inputs[1]);
  call.value = value(op.inputs[2]);
  call.output = view(out[0], op.outputs[0]);
  call.log_sum_exp = floats(side[0]);
  call.workspace = env_.backend.workspace(reference::attention_workspace(call));
  reference::attention_forward(call);

  const Ring ring{env_.groups[Axis::context], env_.granted.context};
  const Held travels = working(bytes(op.inputs[1]) + bytes(op.inputs[2]));
  const Held block = working(bytes(op.outputs[0]));
  const Held block_sums = working(side[0]->bytes());
  const KeyValue own{span_of(held(op.inputs[1])), span_of(held(op.inputs[2]))};
  const KeyValue travelling = halves(span_of(travels), own);
  const std::int64_t own_begin = call.shape.first_query;
  for (std::int32_t hops = 1; hops < ring.size(); ++hops) {
    ring.pass(hops == 1 ? own : travelling, travelling);
    call.shape.first_key = ring.owner(hops) * call.shape.keys;
    if (a.causal && call.shape.first_key > own_begin) continue;  // nobody sees what comes later
    call.key.data = travelling.key.data();
    call.value.data = travelling.value.data();
    call.output = view(block, op.outputs[0]);
    call.log_sum_exp = floats(block_sums);
    reference::attention_forward(call);
    reference::attention_merge({call.shape.batch, call.shape.heads, call.shape.queries, view(out[0], op.outputs[0]),
                                floats(side[0]), call.output, call.log_sum_exp});
  }
}

void BlockRunner::ring_backward(OpId id, const Op& op) {
  const auto& a = std::get<AttentionAttributes>(op.attributes);
  const SideBuffers& side = state_.side[slot(id)];
  check(side[0] != nullptr, "attention has its statistics");
  std::array<Held, 3> made;
  for (std::size_t i = 0; i < 3; ++i) made[i] = working(bytes(op.inputs[i]));
  AttentionBackward call;
  call.shape = attention_shape(a, env_);
  call.dropout = attention_dropout(a, draw(id), env_);
  call.output_gradient = view(gradient(op.outputs[0]), op.outputs[0]);
  call.query = value(op.inputs[0]);
  call.key = value(op.inputs[1]);
  call.value = value(op.inputs[2]);
  call.output = value(op.outputs[0]);
  call.log_sum_exp = floats(side[0]);
  call.query_gradient = view(made[0], op.inputs[0]);
  call.key_gradient = view(made[1], op.inputs[1]);
  call.value_gradient = view(made[2], op.inputs[2]);
  call.workspace = env_.backend.workspace(reference::attention_workspace(call));
  reference::attention_backward(call);

  const Ring ring{env_.groups[Axis::context], env_.granted.context};
  const Bytes size = bytes(op.inputs[1]) + bytes(op.inputs[2]);
  const Held travels = working(size);
  const Held gradients = working(size);
  const KeyValue own{span_of(held(op.inputs[1])), span_of(held(op.inputs[2]))};
  const KeyValue travelling = halves(span_of(travels), own);
  const std::span<std::byte> sums = span_of(gradients);
  const KeyValue sum = halves(sums, own);
  const std::int64_t own_begin = call.shape.first_query;
  call.write_query = Write::accumulate;
  for (std::int32_t hops = 1; hops < ring.size(); ++hops) {
    ring.pass(hops == 1 ? own : travelling, travelling);
    call.shape.first_key = ring.owner(hops) * call.shape.keys;
    call.key.data = travelling.key.data();
    call.value.data = travelling.value.data();
    call.key_gradient.data = sum.key.data();
    call.value_gradient.data = sum.value.data();
    call.write_key_value = hops == 1 ? Write::overwrite : Write::accumulate;
    const bool is_seen = !a.causal || call.shape.first_key <= own_begin;
    if (is_seen) {
      reference::attention_backward(call);
    } else if (hops == 1) {
      reference::fill({call.key_gradient, 0});
      reference::fill({call.value_gradient, 0});
    }
    ring.send(sums, gradient_tag);
    ring.receive(sums, gradient_tag);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const TensorId input = op.inputs[1 + i];
    TensorView arrived = view(made[1 + i], input);
    const TensorView target = arrived;
    arrived.data = (i == 0 ? sum.key : sum.value).data();
    reference::add({target, arrived, target});
  }
  for (std::size_t i = 0; i < 3; ++i) contribute(op.inputs[i], std::move(made[i]));
}

}  // namespace plumbline
