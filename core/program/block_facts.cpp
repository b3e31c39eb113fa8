#include "core/program/block_facts.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

Bytes gradient_bytes(const BlockFacts& facts, const Op& op) {
  std::int64_t elements = 0;
  for (const TensorId p : op.parameters) elements += local_elements(facts.block.tensor(p), facts.shard);
  return storage(elements, facts.shard.formats.gradient);
}

/// `values`: for each token, in 32 bits.
Bytes loss_bytes(const BlockFacts& facts, const Op& loss, std::int64_t values) {
  return storage(values * local_rows(facts.block.tensor(loss.inputs.front()), facts.shard), NumberFormat::fp32);
}

Bytes tensor_bytes(const BlockFacts& facts, const BlockBuffer& buffer) {
  if (buffer.rows == BufferRows::whole) return facts.whole(buffer.like);
  return buffer.rows == BufferRows::chosen ? facts.chosen(buffer.like) : facts.bytes(buffer.like);
}

}  // namespace

Bytes BlockFacts::bytes(const BlockBuffer& buffer, std::span<const BlockBuffer> others) const {
  if (buffer.like_buffer >= 0) return others[static_cast<std::size_t>(buffer.like_buffer)].bytes;
  switch (buffer.content) {
    case BufferContent::tensor: return tensor_bytes(*this, buffer);
    case BufferContent::side: return sides(buffer.op)[static_cast<std::size_t>(buffer.side)];
    case BufferContent::travelling: return travelling(block.op(buffer.op));
    case BufferContent::maxima: return loss_bytes(*this, block.op(buffer.op), 1);
    case BufferContent::sums: return loss_bytes(*this, block.op(buffer.op), 2);
    case BufferContent::parameter_gradients: return gradient_bytes(*this, block.op(buffer.op));
  }
  check(false, "a buffer holds something");
  return Bytes(0);
}

}  // namespace plumbline
