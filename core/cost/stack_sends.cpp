// What the collectives of a block send, as the software stack sends it.
#include <cmath>

#include "core/cost/block_sizes.h"
#include "core/cost/point_to_point.h"
#include "core/cost/primitive_operators.h"
#include "core/sharding/product_format.h"

namespace plumbline {
namespace {

/// Values that share a scale of eight bits in nvfp4 (arXiv:2509.25149, section 2).
constexpr double values_of_a_scale = 16;

/// Whether ranks gather 8- or 4-bit copies of what the product reads in 16 (Transformer Engine, pytorch/distributed.py:
/// gather_along_first_dim quantises first).
bool gathers_copies(const LoweredBlock& of, const BlockSend& send) {
  const StackFeatures& features = of.target.stack.features;
  if (send.kind != Collective::all_gather || features.fp8_gathers == QuantizedGathers::as_read) return false;
  const PrecisionFormats& formats = of.shard.formats;
  const bool has_copies = is_quantized(formats.matmul) && bits(formats.matmul) <= 8 && bits(formats.activation) == 16;
  const bool casts_before =
      scales_tensors(formats.scaling) ||
      (of.shard.kept.product_inputs != ProductInputs::as_read && formats.scaling != OperandScaling::row);
  return has_copies && casts_before && is_quantized(product_format(of.block, of.block.op(send.op), of.shard));
}

/// Of the 16 bits that such a copy takes the place of; an 8-bit copy's scales are left out.
double share_of_copy(const PrecisionFormats& formats) {
  const double of_scale = bits(formats.matmul) < 8 ? 8 / values_of_a_scale : 0;
  return (static_cast<double>(bits(formats.matmul)) + of_scale) / static_cast<double>(bits(formats.activation));
}

double experts_per_token(const Block& block) {
  for (const Op& op : block.ops())
    if (const auto* router = std::get_if<RouterAttributes>(&op.attributes)) return static_cast<double>(router->chosen);
  return 1;
}

/// Of a token's copies for its experts, the share that crosses where a rank or node gets one of them.
double crossing_share(const LoweredBlock& of) {
  const RankGroup& group = of.groups.expert;
  return share_sent_once(experts_per_token(of.block), group_span(group.size, group.stride, of.target.cluster));
}

/// What the stack sends of it.
Bytes stack_bytes(const LoweredBlock& of, const BlockSend& send) {
  const auto times = [&](double share) { return Bytes(std::llround(share * static_cast<double>(send.bytes.value()))); };
  const StackFeatures& features = of.target.stack.features;
  const bool is_exchange = send.kind == Collective::all_to_all;
  switch (send.axis) {
    case Axis::tensor: return gathers_copies(of, send) ? times(share_of_copy(of.shard.formats)) : send.bytes;
    case Axis::context: {
      if (is_exchange) return send.bytes;
      const OpWork work = op_work(of.block, of.block.op(send.op), of.shard);
      return times(copies_of_heads(*work.attention, features.key_value_heads));
    }
    default:
      return is_exchange && features.expert_copies == ExpertCopies::one_per_rank ? times(crossing_share(of))
                                                                                 : send.bytes;
  }
}

}  // namespace

const RankGroup& BlockGroups::of(const BlockSend& send) const {
  switch (send.axis) {
    case Axis::tensor: return tensor;
    case Axis::context: return context;
    default: return send.kind == Collective::all_to_all ? expert : expert_tensor;
  }
}

std::vector<BlockSend> stack_sends(const LoweredBlock& of, const BlockProgram& program, BlockPass pass) {
  std::vector<BlockSend> sends = block_sends(program, pass, of.block, of.shard);
  for (BlockSend& send : sends) send.bytes = stack_bytes(of, send);
  return sends;
}

PassSends pass_sends(const LoweredBlock& of, const BlockProgram& program) {
  return {stack_sends(of, program, BlockPass::forward), stack_sends(of, program, BlockPass::backward)};
}

WireBytes sent_bytes(const std::vector<BlockSend>& sends, const BlockGroups& groups) {
  WireBytes wire;
  for (const BlockSend& send : sends) {
    const bool is_ring = send.axis == Axis::context && send.kind != Collective::all_to_all;
    const Bytes sent = is_ring ? send.times * send.bytes : wire_bytes(send.kind, send.bytes, groups.of(send).size);
    wire[block_axis(send.axis)] += sent;
  }
  return wire;
}

}  // namespace plumbline
