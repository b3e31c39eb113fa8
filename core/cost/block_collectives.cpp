// What the collectives of a block take and send: tensor, context and expert parallelism.
#include <cmath>

#include "core/cost/block_times.h"
#include "core/cost/point_to_point.h"
#include "core/cost/primitive_operators.h"
#include "core/sharding/tensor_parallel_points.h"

namespace plumbline {

void BlockPricer::add_tensor_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                                      const OpFilter& counts) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const bool sliced = shard.sequence_parallel == SequenceParallel::on;
  const auto time = [&](Collective kind, Bytes bytes) {
    times.wire.tensor += wire_bytes(kind, bytes, groups.tensor.size);
    return stack.tensor_parallel_exposure * communication_.time(kind, bytes, groups.tensor);
  };
  // DTensor gathers and scatters the first dimension, which is the batch, and copies the whole tensor into the order of
  // the sequence (torch/distributed/_functional_collectives.py: all_gather_tensor, reduce_scatter_tensor).
  const auto copying = [&](Bytes bytes) {
    return sliced ? stack.distributed_tensors * kernels_.stream(2.0 * static_cast<double>(bytes.value())) : Seconds(0);
  };
  for (const TensorParallelPoint& point : tensor_parallel_points(block, shard, counts)) {
    const auto forward = [&](Collective kind) {
      ++times.collectives.forward;
      times.tensor_forward += time(kind, point.bytes);
      if (kind != Collective::all_reduce) times.tensor_forward += copying(point.bytes);
      times.wire_forward.tensor += wire_bytes(kind, point.bytes, groups.tensor.size);
    };
    const auto backward = [&](Collective kind) {
      ++times.collectives.backward;
      times.tensor_backward += stack.tensor_parallel_backward_factor * time(kind, point.bytes);
      if (kind != Collective::all_reduce) times.tensor_backward += copying(point.bytes);
    };
    switch (point.kind) {
      case PointKind::enter:
        if (sliced) {
          forward(Collective::all_gather);
          if (point.needs_gradient) backward(Collective::reduce_scatter);
          // DTensor keeps the gathered input for the gradients of weights.
          if (point.trains && stack.distributed_tensors <= 0) backward(Collective::all_gather);
        } else if (point.needs_gradient) {
          backward(Collective::all_reduce);
        }
        break;
      case PointKind::leave:
        forward(sliced ? Collective::reduce_scatter : Collective::all_reduce);
        if (sliced && point.needs_gradient) backward(Collective::all_gather);
        break;
      case PointKind::loss: forward(Collective::all_reduce); break;
    }
  }
}

void BlockPricer::add_context_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                                       const OpFilter& counts) const {
  if (shard.context_parallel == 1) return;
  const StackCalibration& stack = kernels_.calibration().stack;
  const double exposure = stack.context_parallel_exposure;
  for (const OpId id : block.execution_order()) {
    const Op& op = block.op(id);
    if (op.kind != OpKind::attention || (counts && !counts(id))) continue;
    const OpWork work = op_work(block, op, shard);
    const Bytes of_heads =
        local_bytes(block.tensor(op.inputs[1]), shard) + local_bytes(block.tensor(op.inputs[2]), shard);
    const Bytes keys_and_values(
        std::llround(copies_of_heads(*work.attention, stack) * static_cast<double>(of_heads.value())));
    const auto queries = static_cast<double>(local_elements(block.tensor(op.inputs[0]), shard));
    // Keys and values that are gathered leave nothing to merge.
    const double merges = shard.flash_attention == FlashAttention::on ? shard.context_parallel - 1 : 0;
    times.context_forward += kernels_.stream(merges * stack.ring_bytes_forward * queries);
    const Seconds step = communication_.time(Collective::send_receive, keys_and_values, groups.context);
    const double steps = exposure * (shard.context_parallel - 1);
    times.context_forward += steps * step;
    times.collectives.forward += shard.context_parallel - 1;
    times.wire_forward.context += std::int64_t{shard.context_parallel - 1} * keys_and_values;
    times.wire.context += std::int64_t{shard.context_parallel - 1} * keys_and_values;
    // Keys and values travel again, and their gradients with them.
    if (!work.needs.input) continue;
    times.context_backward += kernels_.stream(merges * stack.ring_bytes_backward * queries);
    times.context_backward += 2.0 * steps * step;
    times.collectives.backward += shard.context_parallel - 1;
    times.wire.context += std::int64_t{2} * (shard.context_parallel - 1) * keys_and_values;
  }
}

namespace {

double experts_per_token(const Block& block) {
  for (const Op& op : block.ops())
    if (const auto* router = std::get_if<RouterAttributes>(&op.attributes)) return static_cast<double>(router->chosen);
  return 1;
}

}  // namespace

void BlockPricer::add_expert_parallel(Times& times, const Block& block, const Shard& shard, const BlockGroups& groups,
                                      const OpFilter& counts) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const GroupSpan span = group_span(groups.expert.size, groups.expert.stride, communication_.cluster());
  const double sent_share = 1 - stack.expert_copies_once * (1 - share_sent_once(experts_per_token(block), span));
  for (std::size_t i = 0; i < block.ops().size(); ++i) {
    const Op& op = block.ops()[i];
    if (op.kind != OpKind::dispatch && op.kind != OpKind::combine) continue;
    if (counts && !counts(OpId(static_cast<std::int32_t>(i)))) continue;
    const bool dispatch = op.kind == OpKind::dispatch;
    const Tensor& rows = block.tensor(dispatch ? op.outputs.front() : op.inputs.front());
    const Bytes routed = local_bytes(rows, shard);
    const Bytes own(std::llround(sent_share * static_cast<double>(chosen_bytes(rows, shard).value())));
    Seconds time = communication_.time(Collective::all_to_all, own, groups.expert) * stack.expert_imbalance.value;
    const Collective joining = dispatch ? Collective::all_gather : Collective::reduce_scatter;
    time += communication_.time(joining, routed, groups.expert_tensor);
    const Bytes sent = wire_bytes(Collective::all_to_all, own, groups.expert.size) +
                       wire_bytes(joining, routed, groups.expert_tensor.size);
    const double sends = (groups.expert.size > 1 ? 1 : 0) + (groups.expert_tensor.size > 1 ? 1 : 0);
    times.collectives.forward += sends;
    times.expert_forward += stack.expert_parallel_exposure * time;
    times.wire_forward.expert += sent;
    times.wire.expert += sent;
    if (!op_work(block, op, shard).needs.input) continue;
    times.collectives.backward += sends;
    times.expert_backward += stack.expert_parallel_exposure * time;
    times.wire.expert += sent;
  }
}

/// `replayed`: by op in order of execution.
BlockPricer::Times BlockPricer::collectives_of(const Block& block, const Shard& shard, const BlockGroups& groups,
                                               const std::vector<bool>& replayed) const {
  std::vector<bool> runs(block.ops().size(), false);
  for (std::size_t i = 0; i < replayed.size(); ++i)
    runs[static_cast<std::size_t>(block.execution_order()[i].index())] = replayed[i];
  const auto counts = [&](OpId id) -> bool { return runs[static_cast<std::size_t>(id.index())]; };
  Times again;
  add_tensor_parallel(again, block, shard, groups, counts);
  add_context_parallel(again, block, shard, groups, counts);
  add_expert_parallel(again, block, shard, groups, counts);
  return again;
}

}  // namespace plumbline
