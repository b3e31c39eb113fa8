// What the collectives of a block take: tensor, context and expert parallelism.
#include "core/cost/block_cost.h"

namespace plumbline {
namespace {

/// Around a collective that kernels wait for; a group of one has none.
Seconds gap_around_collective(const RankGroup& group, const StackCalibration& stack) {
  return Seconds(group.size > 1 ? stack.communication.collective_gap_s.value : 0);
}

}  // namespace

CollectiveTimes BlockPricer::collectives(const LoweredBlock& of, const std::vector<BlockSend>& sends,
                                         BlockPass pass) const {
  CollectiveTimes times;
  for (const BlockSend& send : sends) switch (send.axis) {
      case Axis::tensor: add_tensor(times, of, send, pass); break;
      case Axis::context:
        if (send.kind == Collective::all_to_all)
          add_head_exchange(times, of, send);
        else
          add_context(times, of, send, pass);
        break;
      default: add_expert(times, of, send);
    }
  return times;
}

void BlockPricer::add_tensor(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send,
                             BlockPass pass) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const bool is_backward = pass == BlockPass::backward;
  const bool gathers_batches = stack.features.tensor_parallelism == GatheredDimension::batch;
  const Seconds gap = gap_around_collective(of.groups.tensor, stack);
  const Seconds time = stack.communication.tensor_parallel_exposure *
                       (communication_.time(send.kind, send.bytes, of.groups.tensor) + gap);
  times.tensor += is_backward ? stack.communication.tensor_parallel_backward_factor * time : time;
  // DTensor gathers and scatters the first dimension, which is the batch, and copies the whole tensor into the order of
  // the sequence (torch/distributed/_functional_collectives.py: all_gather_tensor, reduce_scatter_tensor).
  if (gathers_batches && send.kind != Collective::all_reduce)
    times.tensor += kernels_.stream(2.0 * static_cast<double>(send.bytes.value()));
  ++times.launches;
}

void BlockPricer::add_context(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send,
                              BlockPass pass) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const Op& op = of.block.op(send.op);
  // Keys and values that are gathered leave nothing to merge.
  const double merges = of.shard.flash_attention == FlashAttention::on ? of.shard.context_parallel - 1 : 0;
  const double merged_bytes =
      pass == BlockPass::backward ? stack.communication.ring_bytes_backward : stack.communication.ring_bytes_forward;
  const auto queries = static_cast<double>(local_elements(of.block.tensor(op.inputs[0]), of.shard));
  times.context += kernels_.stream(merges * merged_bytes * queries);
  const double hops = stack.communication.context_parallel_exposure * static_cast<double>(send.times);
  times.context += hops * communication_.time(send.kind, send.bytes, of.groups.context);
  times.launches += of.shard.context_parallel - 1;
}

/// Attention reads what arrives, so that kernels wait for each; around it are a copy by rank and one by token. Source:
/// deepspeed/sequence/layer.py: single_all_to_all; Transformer Engine, context_parallel.py: flash_attn_a2a_communicate.
void BlockPricer::add_head_exchange(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send) const {
  constexpr double copies = 2;
  const RankGroup& group = of.groups.context;
  times.context += communication_.time(send.kind, send.bytes, group) +
                   gap_around_collective(group, kernels_.calibration().stack) +
                   copies * kernels_.stream(2.0 * static_cast<double>(send.bytes.value()));
  times.launches += 1 + copies;
}

namespace {

/// Of an exchange alongside another micro-batch's pass: what both slow each other, 19 % in the mean.
/// Source: arXiv:2507.03114 (collectives alongside products); arXiv:2412.19437, section 3.2.1 (both are hidden else).
constexpr double paired_exposure = 0.19;

double exchange_exposure(const StackCalibration& stack, PairedPasses paired) {
  const double alone = stack.communication.expert_parallel_exposure;
  const bool overlaps = paired == PairedPasses::yes && stack.features.paired_exchanges == PairedExchanges::overlapped;
  return overlaps ? std::min(alone, paired_exposure) : alone;
}

}  // namespace

void BlockPricer::add_expert(CollectiveTimes& times, const LoweredBlock& of, const BlockSend& send) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const bool is_exchange = send.kind == Collective::all_to_all;
  const RankGroup& group = of.groups.of(send);
  const double factor = is_exchange ? stack.experts.expert_imbalance.value : 1;
  const double exposure = exchange_exposure(stack, is_exchange ? of.groups.paired : PairedPasses::no);
  const Seconds gap = gap_around_collective(group, stack);
  times.expert += exposure * (factor * communication_.time(send.kind, send.bytes, group) + gap);
  times.launches += group.size > 1 ? 1 : 0;
}

}  // namespace plumbline
