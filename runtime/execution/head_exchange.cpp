// Attention's tensors on their way from all heads of a rank's tokens to all tokens of a part of its heads, and back.
// Of a tensor, the side by tokens is [sequences, the rank's tokens, ranks, features of a rank's heads], packed it is
// [sequences, ranks, the rank's tokens, features]; so what arrives of a sequence has its tokens in order.
// Source: DeepSpeed Ulysses, arXiv:2309.14509, section 3.1.
#include "runtime/execution/kernel_call.h"

namespace plumbline {
namespace {

/// How one tensor is divided.
struct HeadParts {
  std::int64_t sequences = 1;
  std::int64_t ranks = 1;
  std::int64_t tokens = 1;    ///< of a rank
  std::int64_t features = 1;  ///< of a rank's heads
  NumberFormat number = NumberFormat::fp32;

  HeadParts(const KernelCall& call, TensorId like)
      : sequences(call.share.shard.lengths.batch),
        ranks(call.share.shard.context_parallel),
        tokens(call.rows(like) / sequences),
        features(call.columns(like) / ranks),
        number(call.format(like)) {}

  /// Of the side by tokens: one rank's features of one sequence.
  [[nodiscard]] TensorView by_token(std::byte* data, std::int64_t sequence, std::int64_t rank) const {
    const TensorView all = dense_view(static_cast<void*>(data), number, sequences * tokens, ranks * features);
    return all.rows_from(sequence * tokens, tokens).columns_from(rank * features, features);
  }
  /// Of the packed side.
  [[nodiscard]] TensorView by_rank(std::byte* data, std::int64_t sequence, std::int64_t rank) const {
    const TensorView all = dense_view(static_cast<void*>(data), number, sequences * ranks * tokens, features);
    return all.rows_from((sequence * ranks + rank) * tokens, tokens);
  }
};

std::span<std::byte> sequence_of(std::span<std::byte> all, std::int64_t sequence, std::int64_t sequences) {
  const std::size_t size = all.size() / static_cast<std::size_t>(sequences);
  return all.subspan(static_cast<std::size_t>(sequence) * size, size);
}

}  // namespace

// Operands: by token and packed, or packed and by token.
void run_head_copies(const KernelCall& call) {
  const bool packs = call.instruction.role == KernelRole::pack_heads;
  const HeadParts parts(call, call.tensor(packs ? 1 : 0));
  std::byte* from = call.buffer(0)->data();
  std::byte* to = call.buffer(1)->data();
  for (std::int64_t sequence = 0; sequence < parts.sequences; ++sequence)
    for (std::int64_t rank = 0; rank < parts.ranks; ++rank) {
      const TensorView by_token = parts.by_token(packs ? from : to, sequence, rank);
      const TensorView by_rank = parts.by_rank(packs ? to : from, sequence, rank);
      call.kernels().cast({packs ? by_token : by_rank, packs ? by_rank : by_token});
    }
}

// Operands: what leaves and what arrives; one of them is packed.
void exchange_heads(const KernelCall& call) {
  const TensorId like = call.tensor(call.tensor(0).is_valid() ? 0 : 1);
  const HeadParts parts(call, like);
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(parts.ranks), parts.tokens * parts.features);
  for (std::int64_t sequence = 0; sequence < parts.sequences; ++sequence)
    call.device.calls.communicate(
        Axis::context, [leaving = sequence_of(span_of(call.buffer(0)), sequence, parts.sequences),
                        arriving = sequence_of(span_of(call.buffer(1)), sequence, parts.sequences),
                        &group = call.share.groups[Axis::context], counts, format = element_format(parts.number)] {
          group.all_to_all(leaving, counts, arriving, counts, format);
        });
}

}  // namespace plumbline
