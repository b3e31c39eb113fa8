#include "core/cost/block_cost.h"

#include <algorithm>

#include "core/cost/tensor_parallel_points.h"

namespace plumbline {
namespace {

/// fp8 products cast and transpose their operands: 1.5 bytes per element of the input forward, 2 per element of the
/// output gradient backward. Source: study of fp8 step times (docs/calibrations.md), Transformer Engine's
/// cast-transpose.
constexpr double fp8_cast_bytes_forward = 1.5;
constexpr double fp8_cast_bytes_backward = 2.0;

bool is_fp8(NumberFormat format) { return bits(format) == 8; }

/// Heads, routers and attention stay in 16 bits under fp8 recipes.
NumberFormat product_format(const Block& block, const Op& op, const PrecisionFormats& formats) {
  const bool low = block.kind() == BlockKind::layer && (op.kind == OpKind::linear || op.kind == OpKind::grouped_linear);
  return is_fp8(formats.matmul) && !low ? formats.activation : formats.matmul;
}

Picoseconds rounded(Seconds time, double factor) { return to_picoseconds(factor * time); }

}  // namespace

PhaseTime& PhaseTime::operator+=(const PhaseTime& other) {
  compute += other.compute;
  tensor_parallel += other.tensor_parallel;
  context_parallel += other.context_parallel;
  expert_parallel += other.expert_parallel;
  return *this;
}

WireBytes& WireBytes::operator+=(const WireBytes& other) {
  tensor += other.tensor;
  context += other.context;
  expert += other.expert;
  return *this;
}

BlockGroups block_groups(const Strategy& s) {
  return {rank_group(s, Axis::tensor), rank_group(s, Axis::context), rank_group(s, Axis::expert),
          rank_group(s, Axis::expert_tensor)};
}

/// Sums in seconds before they become integers.
struct BlockPricer::Times {
  Seconds forward{0};
  Seconds backward{0};
  Seconds attention{0};
  Seconds tensor_forward{0};
  Seconds tensor_backward{0};
  Seconds context_forward{0};
  Seconds context_backward{0};
  Seconds expert_forward{0};
  Seconds expert_backward{0};
  WireBytes wire;
  WireBytes wire_forward;
  std::int64_t forward_kernels = 0;
  std::int64_t backward_kernels = 0;
};

BlockPricer::BlockPricer(const Cluster& cluster, const Calibration& calibration)
    : kernels_(slowest_device(cluster), calibration), communication_(cluster) {}

void BlockPricer::add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const {
  const OpWork work = op_work(block, op, shard);
  const NumberFormat format = product_format(block, op, shard.formats);
  const bool any_gradient = work.needs.input || work.needs.weight;
  ++times.forward_kernels;
  if (any_gradient) times.backward_kernels += work.kind == WorkKind::memory ? 1 : 2;
  switch (work.kind) {
    case WorkKind::product:
    case WorkKind::grouped_product: {
      const bool grouped = work.kind == WorkKind::grouped_product;
      const double load =
          grouped && shard.expert_parallel > 1 ? kernels_.calibration().stack.expert_imbalance.value : 1.0;
      const auto time = [&](const MatrixProduct& p) {
        return load * (grouped ? kernels_.grouped_product(p, format) : kernels_.product(p, format));
      };
      const MatrixProduct& p = *work.product;
      times.forward += time(p);
      if (work.backward_input.value() > 0) times.backward += time({p.batch, p.m, p.k, p.n});
      if (work.backward_weight.value() > 0) times.backward += time({p.batch, p.k, p.n, p.m});
      if (is_fp8(format)) {
        const double input = static_cast<double>(p.batch * p.m * p.k);
        const double output = static_cast<double>(p.batch * p.m * p.n);
        times.forward += kernels_.stream(fp8_cast_bytes_forward * input);
        if (any_gradient) times.backward += kernels_.stream(fp8_cast_bytes_backward * output);
      }
      break;
    }
    case WorkKind::attention: {
      const Seconds forward =
          kernels_.attention_forward(*work.attention, shard.flash_attention, shard.formats.activation);
      times.forward += forward;
      times.attention += forward;
      if (any_gradient)
        times.backward += kernels_.attention_backward(*work.attention, shard.flash_attention, shard.formats.activation);
      break;
    }
    case WorkKind::memory: {
      const bool loss = op.kind == OpKind::cross_entropy;
      times.forward += loss ? kernels_.loss(work.forward_traffic) : kernels_.memory(work.forward_traffic);
      if (any_gradient)
        times.backward += loss ? kernels_.loss(work.backward_traffic) : kernels_.memory(work.backward_traffic);
      break;
    }
  }
}

void BlockPricer::add_tensor_parallel(Times& times, const Block& block, const Shard& shard,
                                      const BlockGroups& groups) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  const bool sliced = shard.sequence_parallel == SequenceParallel::on;
  const auto time = [&](Collective kind, Bytes bytes) {
    times.wire.tensor += wire_bytes(kind, bytes, groups.tensor.size);
    return stack.tensor_parallel_exposure * communication_.time(kind, bytes, groups.tensor);
  };
  for (const TensorParallelPoint& point : tensor_parallel_points(block, shard)) {
    const auto forward = [&](Collective kind) {
      times.tensor_forward += time(kind, point.bytes);
      times.wire_forward.tensor += wire_bytes(kind, point.bytes, groups.tensor.size);
    };
    const auto backward = [&](Collective kind) {
      if (point.needs_gradient)
        times.tensor_backward += stack.tensor_parallel_backward_factor * time(kind, point.bytes);
    };
    switch (point.kind) {
      case PointKind::enter:
        if (sliced) {
          forward(Collective::all_gather);
          backward(Collective::reduce_scatter);
          backward(Collective::all_gather);
        } else {
          backward(Collective::all_reduce);
        }
        break;
      case PointKind::leave:
        forward(sliced ? Collective::reduce_scatter : Collective::all_reduce);
        if (sliced) backward(Collective::all_gather);
        break;
      case PointKind::loss: forward(Collective::all_reduce); break;
    }
  }
}

void BlockPricer::add_context_parallel(Times& times, const Block& block, const Shard& shard,
                                       const BlockGroups& groups) const {
  if (shard.context_parallel == 1) return;
  const double exposure = kernels_.calibration().stack.context_parallel_exposure;
  for (const Op& op : block.ops()) {
    if (op.kind != OpKind::attention) continue;
    const Bytes keys_and_values =
        local_bytes(block.tensor(op.inputs[1]), shard) + local_bytes(block.tensor(op.inputs[2]), shard);
    const Seconds step = communication_.time(Collective::send_receive, keys_and_values, groups.context);
    const double steps = exposure * (shard.context_parallel - 1);
    times.context_forward += steps * step;
    times.wire_forward.context += std::int64_t{shard.context_parallel - 1} * keys_and_values;
    times.wire.context += std::int64_t{shard.context_parallel - 1} * keys_and_values;
    // Keys and values travel again, and their gradients with them.
    if (!op_work(block, op, shard).needs.input) continue;
    times.context_backward += 2.0 * steps * step;
    times.wire.context += std::int64_t{2} * (shard.context_parallel - 1) * keys_and_values;
  }
}

void BlockPricer::add_expert_parallel(Times& times, const Block& block, const Shard& shard,
                                      const BlockGroups& groups) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  for (const Op& op : block.ops()) {
    if (op.kind != OpKind::dispatch && op.kind != OpKind::combine) continue;
    const bool dispatch = op.kind == OpKind::dispatch;
    const Bytes routed = local_bytes(block.tensor(dispatch ? op.outputs.front() : op.inputs.front()), shard);
    const Bytes own = routed / std::int64_t{shard.expert_tensor_parallel};
    Seconds time = communication_.time(Collective::all_to_all, own, groups.expert) * stack.expert_imbalance.value;
    const Collective joining = dispatch ? Collective::all_gather : Collective::reduce_scatter;
    time += communication_.time(joining, routed, groups.expert_tensor);
    const Bytes sent = wire_bytes(Collective::all_to_all, own, groups.expert.size) +
                       wire_bytes(joining, routed, groups.expert_tensor.size);
    times.expert_forward += stack.expert_parallel_exposure * time;
    times.wire_forward.expert += sent;
    times.wire.expert += sent;
    if (!op_work(block, op, shard).needs.input) continue;
    times.expert_backward += stack.expert_parallel_exposure * time;
    times.wire.expert += sent;
  }
}

namespace {

/// Inputs, outputs and gradients of the largest operator, logits apart.
Bytes largest_working_set(const Block& block, const Shard& shard) {
  Bytes largest(0);
  for (const Op& op : block.ops()) {
    if (op.kind == OpKind::cross_entropy) continue;
    Bytes sum(0);
    for (const TensorId id : op.inputs) sum += local_bytes(block.tensor(id), shard);
    for (const TensorId id : op.outputs) {
      const auto& readers = block.consumers(id);
      const bool logits = std::any_of(readers.begin(), readers.end(),
                                      [&](OpId r) { return block.op(r).kind == OpKind::cross_entropy; });
      if (!logits) sum += local_bytes(block.tensor(id), shard);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

Bytes logit_bytes(const Block& block, const Shard& shard, double bytes_per_logit) {
  Bytes sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::cross_entropy)
      sum += Bytes(static_cast<std::int64_t>(
          bytes_per_logit * static_cast<double>(local_elements(block.tensor(op.inputs.front()), shard))));
  return sum;
}

Flops attention_flops(const Block& block, const Shard& shard) {
  Flops sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::attention) sum += op_work(block, op, shard).forward;
  return sum;
}

}  // namespace

BlockCost BlockPricer::price(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  Times times;
  for (const Op& op : block.ops()) add_op(times, block, op, shard);
  add_tensor_parallel(times, block, shard, groups);
  add_context_parallel(times, block, shard, groups);
  add_expert_parallel(times, block, shard, groups);

  const StackCalibration& stack = kernels_.calibration().stack;
  const double factor = stack.step_factor;
  BlockCost cost;
  cost.forward = {rounded(kernels_.with_host(times.forward, times.forward_kernels), factor),
                  rounded(times.tensor_forward, factor), rounded(times.context_forward, factor),
                  rounded(times.expert_forward, factor)};
  cost.backward = {rounded(kernels_.with_host(times.backward, times.backward_kernels), factor),
                   rounded(times.tensor_backward, factor), rounded(times.context_backward, factor),
                   rounded(times.expert_backward, factor)};
  cost.recompute_selective.compute = rounded(times.attention, factor);
  cost.recompute_full = cost.forward;

  const std::vector<SavedTensor> saved = saved_tensors(block, shard);
  cost.boundary = boundary_bytes(block, shard);
  cost.saved = saved_bytes(saved, RecomputeMode::none, cost.boundary);
  cost.saved_selective = saved_bytes(saved, RecomputeMode::selective, cost.boundary);
  cost.working = largest_working_set(block, shard);
  cost.logits = logit_bytes(block, shard, stack.logit_bytes);
  cost.wire = times.wire;
  cost.wire_forward = times.wire_forward;
  cost.parameters = rank_parameters(block, shard);
  cost.flops = block_flops(block, shard);
  cost.attention_forward = attention_flops(block, shard);
  return cost;
}

}  // namespace plumbline
