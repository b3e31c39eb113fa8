// Unfused attention over context-parallel ranks: each gathers the keys and values of all, and reduces their gradients.
// Source: Grattafiori et al., arXiv:2407.21783, section 3.3.2 (all-gather of keys and values).
#include "runtime/execution/attention_call.h"

namespace plumbline {
namespace {

/// Keys or values (or their gradients): the rank's own, and those of all ranks, sequence by sequence.
struct GatheredRows {
  std::span<std::byte> own;
  std::span<std::byte> all;
  NumberFormat number = NumberFormat::fp32;
  std::int64_t sequences = 1;

  [[nodiscard]] std::span<std::byte> own_of(std::int64_t sequence) const { return part(own, sequence); }
  [[nodiscard]] std::span<std::byte> all_of(std::int64_t sequence) const { return part(all, sequence); }
  [[nodiscard]] std::span<std::byte> part(std::span<std::byte> rows, std::int64_t sequence) const {
    const std::size_t size = rows.size() / static_cast<std::size_t>(sequences);
    return rows.subspan(static_cast<std::size_t>(sequence) * size, size);
  }
};

/// Keys are before values.
struct GatheredPair {
  GatheredRows key;
  GatheredRows value;
};

GatheredPair gathered_pair(const KernelCall& call, std::size_t key, std::size_t value, std::size_t both) {
  const std::span<std::byte> all = span_of(call.buffer(both));
  const auto ranks = static_cast<std::size_t>(call.share.shard.context_parallel);
  const std::span<std::byte> keys = span_of(call.buffer(key));
  const std::span<std::byte> values = span_of(call.buffer(value));
  const std::int64_t sequences = call.share.shard.lengths.batch;
  return {{keys, all.first(ranks * keys.size()), call.format(call.tensor(key)), sequences},
          {values, all.subspan(ranks * keys.size()), call.format(call.tensor(value)), sequences}};
}

void gather(const KernelCall& call, const GatheredRows& rows) {
  for (std::int64_t i = 0; i < rows.sequences; ++i)
    call.device.calls.communicate(Axis::context, [=, &group = call.share.groups[Axis::context]] {
      group.all_gather(rows.own_of(i), rows.all_of(i), element_format(rows.number));
    });
}

void reduce_scatter(const KernelCall& call, const GatheredRows& rows) {
  for (std::int64_t i = 0; i < rows.sequences; ++i)
    call.device.calls.communicate(Axis::context, [=, &group = call.share.groups[Axis::context]] {
      group.reduce_scatter(rows.all_of(i), rows.own_of(i), element_format(rows.number), Reduction::sum);
    });
}

TensorView view_of_all(const KernelCall& call, const GatheredRows& rows, TensorId like) {
  const std::int64_t width = call.columns(like);
  return dense_view(static_cast<void*>(rows.all.data()), rows.number,
                    static_cast<std::int64_t>(rows.all.size()) * 8 / bits(rows.number) / width, width);
}

// Operands: query, key, value, output, sides; keys and values of all ranks.
void gathered_forward(const KernelCall& call) {
  const GatheredPair all = gathered_pair(call, 1, 2, call.operand_count() - 1);
  gather(call, all.key);
  gather(call, all.value);
  UnfusedAttentionForward kernel = unfused_forward_call(call);
  kernel.key = view_of_all(call, all.key, call.tensor(1));
  kernel.value = view_of_all(call, all.value, call.tensor(2));
  call.run(call.kernels().unfused_attention_forward, kernel);
}

// Operands as of an unfused backward, then keys and values of all ranks, and their gradients.
void gathered_backward(const KernelCall& call) {
  const std::size_t made = call.operand_count() - 5;
  const GatheredPair all = gathered_pair(call, 2, 3, call.operand_count() - 2);
  const GatheredPair gradients = gathered_pair(call, made + 1, made + 2, call.operand_count() - 1);
  gather(call, all.key);
  gather(call, all.value);
  UnfusedAttentionBackward kernel = unfused_backward_call(call);
  kernel.key = view_of_all(call, all.key, call.tensor(2));
  kernel.value = view_of_all(call, all.value, call.tensor(3));
  kernel.query_gradient = call.view(made);
  kernel.key_gradient = view_of_all(call, gradients.key, call.tensor(2));
  kernel.value_gradient = view_of_all(call, gradients.value, call.tensor(3));
  call.run(call.kernels().unfused_attention_backward, kernel);
  reduce_scatter(call, gradients.key);
  reduce_scatter(call, gradients.value);
}

}  // namespace

void run_gathered_attention(const KernelCall& call) {
  if (call.instruction.role == KernelRole::ring_forward) return gathered_forward(call);
  check(call.instruction.role == KernelRole::ring_backward, "attention has four kernels");
  gathered_backward(call);
}

}  // namespace plumbline
