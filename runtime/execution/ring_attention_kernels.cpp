// Attention over context-parallel ranks: keys and values go round the ring, their gradients with them.
// Source: Liu et al., arXiv:2310.01889, algorithm 1. A gradient starts at the rank behind its owner and ends there, so
// both travel as many hops as core/cost/block_cost.h counts.
#include <cmath>

#include "runtime/execution/attention_call.h"

namespace plumbline {
namespace {

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
  GroupCalls& calls;

  [[nodiscard]] std::int32_t size() const { return group.rank_set().size(); }
  [[nodiscard]] std::int32_t next() const { return (group.index() + 1) % size(); }
  [[nodiscard]] std::int32_t before() const { return (group.index() + size() - 1) % size(); }
  /// Whose keys are here after so many hops.
  [[nodiscard]] std::int32_t owner(std::int32_t hops) const { return (group.index() + size() - hops) % size(); }
  void send(std::span<const std::byte> data, std::int32_t tag) const {
    calls.communicate(Axis::context, [=, &to = group, rank = next()] { to.send(data, rank, tag); });
  }
  void receive(std::span<std::byte> data, std::int32_t tag) const {
    calls.communicate(Axis::context, [=, &from = group, rank = before()] { from.receive(data, rank, tag); });
  }
  /// One hop: what is here goes on, what comes is in `arriving`.
  void pass(const KeyValue& leaving, const KeyValue& arriving) const {
    send(leaving.key, key_value_tag);
    send(leaving.value, key_value_tag);
    receive(arriving.key, key_value_tag);
    receive(arriving.value, key_value_tag);
  }
};

// Operands: query, key, value, output, log-sum-exp; what travels, another rank's part of output and log-sum-exp.
void ring_forward(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  AttentionForward kernel = attention_forward_call(call);
  call.run(call.kernels().attention_forward, kernel);

  const Ring ring{call.share.groups[Axis::context], call.device.calls};
  const KeyValue own{span_of(call.buffer(1)), span_of(call.buffer(2))};
  const KeyValue travelling = halves(span_of(call.buffer(5)), own);
  const std::int64_t own_begin = kernel.shape.first_query;
  for (std::int32_t hops = 1; hops < ring.size(); ++hops) {
    ring.pass(hops == 1 ? own : travelling, travelling);
    kernel.shape.first_key = ring.owner(hops) * kernel.shape.keys;
    if (a.causal && kernel.shape.first_key > own_begin) continue;  // nobody sees what comes later
    kernel.key.data = travelling.key.data();
    kernel.value.data = travelling.value.data();
    kernel.output = call.view(6);
    kernel.log_sum_exp = call.floats(7);
    call.run(call.kernels().attention_forward, kernel);
    call.kernels().attention_merge({kernel.shape.batch, kernel.shape.heads, kernel.shape.queries, call.view(3),
                                    call.floats(4), kernel.output, kernel.log_sum_exp});
  }
}

// Operands as of a fused backward, then keys and values that travel, and their gradients.
void ring_backward(const KernelCall& call) {
  const auto& a = std::get<AttentionAttributes>(call.op.attributes);
  AttentionBackward kernel = attention_backward_call(call);
  const std::array made{kernel.key_gradient, kernel.value_gradient};
  call.run(call.kernels().attention_backward, kernel);

  const Ring ring{call.share.groups[Axis::context], call.device.calls};
  const KeyValue own{span_of(call.buffer(2)), span_of(call.buffer(3))};
  const KeyValue travelling = halves(span_of(call.buffer(call.operand_count() - 2)), own);
  const std::span<std::byte> sums = span_of(call.buffer(call.operand_count() - 1));
  const KeyValue sum = halves(sums, own);
  const std::int64_t own_begin = kernel.shape.first_query;
  kernel.write_query = Write::accumulate;
  for (std::int32_t hops = 1; hops < ring.size(); ++hops) {
    ring.pass(hops == 1 ? own : travelling, travelling);
    kernel.shape.first_key = ring.owner(hops) * kernel.shape.keys;
    kernel.key.data = travelling.key.data();
    kernel.value.data = travelling.value.data();
    kernel.key_gradient.data = sum.key.data();
    kernel.value_gradient.data = sum.value.data();
    kernel.write_key_value = hops == 1 ? Write::overwrite : Write::accumulate;
    const bool is_seen = !a.causal || kernel.shape.first_key <= own_begin;
    if (is_seen) {
      call.run(call.kernels().attention_backward, kernel);
    } else if (hops == 1) {
      call.kernels().fill({kernel.key_gradient, 0});
      call.kernels().fill({kernel.value_gradient, 0});
    }
    ring.send(sums, gradient_tag);
    ring.receive(sums, gradient_tag);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    TensorView arrived = made[i];
    arrived.data = (i == 0 ? sum.key : sum.value).data();
    call.kernels().add({made[i], arrived, made[i]});
  }
}

}  // namespace

void run_ring_attention(const KernelCall& call) {
  if (call.instruction.role == KernelRole::ring_forward) return ring_forward(call);
  check(call.instruction.role == KernelRole::ring_backward, "attention has four kernels");
  ring_backward(call);
}

}  // namespace plumbline
