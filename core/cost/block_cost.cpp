#include "core/cost/block_cost.h"
#include "core/cost/point_to_point.h"

#include <algorithm>
#include <cmath>

#include "core/cost/block_variants.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/launches.h"
#include "core/cost/overlap.h"
#include "core/cost/primitive_operators.h"
#include "core/cost/recompute_modules.h"
#include "core/cost/time_limits.h"
#include "core/sharding/product_format.h"
#include "core/sharding/tensor_parallel_points.h"

namespace plumbline {
namespace {

/// fp8 products cast and transpose their operands: 1.5 bytes per element of the input forward, 2 per element of the
/// output gradient backward. Source: study of fp8 step times (docs/calibrations.md), Transformer Engine's
/// cast-transpose.
constexpr double fp8_cast_bytes_forward = 1.5;
constexpr double fp8_cast_bytes_backward = 2.0;

/// NVFP4 reads a tensor once for its largest magnitude (2 bytes) and once to cast it into two orientations with a scale
/// for every 16 numbers (2 + 2 * 9/16), mxfp8 once with one for every 32 (2 + 2 * 33/32): so much more than fp8's
/// casts. Source: Transformer Engine 2.20, NVFP4Quantizer::quantize_impl, with its fused Hadamard transform.
constexpr double fp4_more_cast_bytes = (2.0 + 2.0 + 2 * 9.0 / 16) - (2.0 + 2 * 33.0 / 32);

double cast_bytes(double of_fp8, NumberFormat format) {
  return format == NumberFormat::fp4 ? of_fp8 + fp4_more_cast_bytes : of_fp8;
}

Picoseconds rounded(Seconds time, double factor) { return phase_time(factor * time); }

}  // namespace

BlockGroups block_groups(const Strategy& s) {
  return {rank_group(s, Axis::tensor), rank_group(s, Axis::context), rank_group(s, Axis::expert),
          rank_group(s, Axis::expert_tensor)};
}

/// Sums in seconds before they become integers.
struct BlockPricer::Times {
  Seconds forward{0};
  Seconds backward{0};
  Seconds backward_weight{0};  ///< of backward
  Seconds attention{0};
  Seconds replayed{0};  ///< of forward, by selective checkpointing by operator
  Seconds tensor_forward{0};
  Seconds tensor_backward{0};
  Seconds context_forward{0};
  Seconds context_backward{0};
  Seconds expert_forward{0};
  Seconds expert_backward{0};
  WireBytes wire;
  WireBytes wire_forward;
  void add_weight_gradient(Seconds time) {
    backward += time;
    backward_weight += time;
  }
  Launches kernels;
  Launches collectives;
  double attention_kernels = 0;     ///< forward
  std::vector<Seconds> op_forward;  ///< by op
  std::vector<double> op_kernels;   ///< by op, forward
};

BlockPricer::BlockPricer(const Cluster& cluster, const Calibration& calibration)
    : kernels_(slowest_device(cluster), calibration), communication_(cluster), to_host_(slowest_to_host(cluster)) {}

void BlockPricer::add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const {
  const OpWork work = op_work(block, op, shard);
  const NumberFormat format = product_format(block, op, shard);
  const bool any_gradient = work.needs.input || work.needs.weight;
  add_launches(times, op, work, format, shard);
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
      if (work.backward_weight.value() > 0) times.add_weight_gradient(time({p.batch, p.k, p.n, p.m}));
      times.backward +=
          kernels_.memory(gradient_sums(op, work, shard.formats.activation, kernels_.calibration().stack));
      if (is_quantized(format)) {
        const double input = static_cast<double>(p.batch * p.m * p.k);
        const double output = static_cast<double>(p.batch * p.m * p.n);
        times.forward += kernels_.stream(cast_bytes(fp8_cast_bytes_forward, format) * input);
        if (any_gradient) times.backward += kernels_.stream(cast_bytes(fp8_cast_bytes_backward, format) * output);
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
      const Seconds repeating =
          kernels_.memory(repeated_heads(*work.attention, shard.formats.activation, kernels_.calibration().stack));
      times.forward += repeating;
      if (any_gradient) times.backward += repeating;
      break;
    }
    case WorkKind::memory: {
      const auto time = [&](Bytes moved) {
        if (op.kind == OpKind::cross_entropy) return kernels_.loss(moved);
        if (op.kind == OpKind::dispatch || op.kind == OpKind::combine) return kernels_.routing(moved);
        return kernels_.memory(moved);
      };
      const Traffic traffic = memory_traffic(op, work, kernels_.calibration().stack);
      times.forward += time(traffic.forward);
      if (!any_gradient) break;
      const Seconds backward = time(traffic.backward);
      // A kernel that makes both gradients runs where the input gradient is due.
      if (work.needs.input)
        times.backward += backward;
      else
        times.add_weight_gradient(backward);
      break;
    }
  }
}

void BlockPricer::add_launches(Times& times, const Op& op, const OpWork& work, NumberFormat format,
                               const Shard& shard) const {
  const Launches of_op = launches(op, work, format, shard.flash_attention, kernels_.calibration().stack);
  times.kernels.forward += of_op.forward;
  times.kernels.backward += of_op.backward;
  if (work.kind == WorkKind::attention) times.attention_kernels += of_op.forward;
}

Picoseconds BlockPricer::host_time(double kernels, double collectives) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  return phase_time(Seconds(kernels * stack.host_time_per_kernel_s + collectives * stack.host_time_per_collective_s));
}

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

namespace {

/// Maximum, sum and target logit of each token (kernels/cross_entropy.h; Megatron-LM's parallel loss).
constexpr std::int64_t loss_values_per_token = 3;

Bytes logit_bytes(const Block& block, const Shard& shard, double bytes_per_logit) {
  Bytes sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::cross_entropy) {
      const Tensor& logits = block.tensor(op.inputs.front());
      sum += Bytes(static_cast<std::int64_t>(bytes_per_logit * static_cast<double>(local_elements(logits, shard))));
      sum += storage(local_rows(logits, shard) * loss_values_per_token, NumberFormat::fp32);
    }
  return sum;
}

/// A block before all that is trained keeps nothing, and so runs nothing again.
bool runs_backward(const Block& block) {
  return std::any_of(block.outputs().begin(), block.outputs().end(),
                     [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; });
}

/// Where the host waits for the tokens per expert it cannot run ahead of the device: the pass takes what is longer.
void synchronise(BlockCost& cost, const Block& block, const StackCalibration& stack) {
  const auto dispatches = [](const Op& op) { return op.kind == OpKind::dispatch; };
  if (stack.expert_synchronisation <= 0 || std::none_of(block.ops().begin(), block.ops().end(), dispatches)) return;
  const Picoseconds waited = std::max(Picoseconds(0), cost.host_forward - cost.forward.total());
  cost.forward.compute += part(waited, stack.expert_synchronisation);
  cost.host_forward = std::max(cost.host_forward, cost.forward.total());
}

}  // namespace

void set_working_sets(BlockVariant& variant, const WorkingSetModel& model, RecomputeMode mode, Bytes working,
                      BackwardForm form) {
  variant.working = model.of({variant.replayed, mode, variant.kept}, form);
  variant.restored = std::max(Bytes(0), variant.working.backward - working);
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

BlockVariant BlockPricer::with_modules(const Times& times, const Block& block, const Shard& shard,
                                       const BlockGroups& groups, const BlockCost& cost) const {
  BlockVariant variant;
  variant.replayed = replayed_by_modules(block, shard.recomputed);
  if (std::none_of(variant.replayed.begin(), variant.replayed.end(), [](bool is) { return is; }))
    return cost.variant(Variant::kept);
  const double factor = kernels_.calibration().stack.step_factor;
  Times again = collectives_of(block, shard, groups, variant.replayed);
  double kernels = 0;
  for (std::size_t i = 0; i < variant.replayed.size(); ++i) {
    if (!variant.replayed[i]) continue;
    const OpId id = block.execution_order()[i];
    again.forward += times.op_forward[static_cast<std::size_t>(id.index())];
    kernels += times.op_kernels[static_cast<std::size_t>(id.index())];
    variant.flops += op_work(block, block.op(id), shard).forward;
  }
  variant.recompute = {rounded(again.forward, factor), rounded(again.tensor_forward, factor),
                       rounded(again.context_forward, factor), rounded(again.expert_forward, factor)};
  variant.wire = again.wire_forward;
  variant.host = host_time(kernels, again.collectives.forward);
  variant.saved = kept_bytes(block, shard, {variant.replayed, RecomputeMode::modules});
  set_working_sets(variant, WorkingSetModel(block, shard), RecomputeMode::modules,
                   cost.variant(Variant::kept).working.backward);
  return variant;
}

BlockCost BlockPricer::price(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  Times times;
  const KeptByOperator kept = kept_by_operator(block, shard);
  for (std::size_t op = 0; op < block.ops().size(); ++op) {
    const Seconds before = times.forward;
    const double kernels = times.kernels.forward;
    add_op(times, block, block.ops()[op], shard);
    times.replayed += (1 - kept.share[op]) * (times.forward - before);
    times.op_forward.push_back(times.forward - before);
    times.op_kernels.push_back(times.kernels.forward - kernels);
  }
  add_tensor_parallel(times, block, shard, groups);
  add_context_parallel(times, block, shard, groups);
  add_expert_parallel(times, block, shard, groups);

  const StackCalibration& stack = kernels_.calibration().stack;
  const double factor = stack.step_factor;
  BlockCost cost;
  cost.forward = {rounded(times.forward, factor), rounded(times.tensor_forward, factor),
                  rounded(times.context_forward, factor), rounded(times.expert_forward, factor)};
  cost.backward = {rounded(times.backward, factor), rounded(times.tensor_backward, factor),
                   rounded(times.context_backward, factor), rounded(times.expert_backward, factor)};
  cost.backward_weight = std::min(cost.backward.compute, rounded(times.backward_weight, factor));
  cost.host_forward = host_time(times.kernels.forward, times.collectives.forward);
  cost.host_backward = host_time(times.kernels.backward, times.collectives.backward);
  cost.transfer_synchronisation = stack.transfer_synchronisation;
  cost.pass_synchronisation = stack.pass_synchronisation;
  synchronise(cost, block, stack);
  cost.boundary = boundary_bytes(block, shard);
  if (block.needs_input_gradient()) cost.boundary_gradient = cost.boundary;
  cost.kept_output = Bytes(std::llround(stack.kept_outputs * static_cast<double>(cost.boundary.value())));
  cost.frees_logits = stack.freed_logits > 0;
  if (block.kind() != BlockKind::output)
    for (const TensorId id : block.outputs()) cost.output += local_bytes(block.tensor(id), shard);
  cost.logits = logit_bytes(block, shard, stack.logit_bytes);
  cost.wire = times.wire;
  cost.wire_forward = times.wire_forward;
  cost.parameters = rank_parameters(block, shard);
  cost.tensors = parameter_tensors(block, shard, stack.gathered_from_elements);
  cost.flops = block_flops(block, shard);
  AttentionReplay attention;
  attention.time.compute = rounded(times.attention, factor);
  attention.host = host_time(times.attention_kernels, 0);
  // Probabilities that are made again need the keys of all context-parallel ranks again.
  if (shard.flash_attention == FlashAttention::off) {
    const Times again = collectives_of(block, shard, groups, attention_replay(block));
    attention.time.context_parallel = rounded(again.context_forward, factor);
    attention.wire.context = again.wire_forward.context;
  }
  cost.variants = ruled_variants(block, shard, cost, attention);
  if (stack.host_checkpoints > 0 && block.kind() == BlockKind::layer)
    hold_on_host(cost.variants[Variant::full], shard.tensor_parallel, to_host_);
  const double replayed = times.forward.value() > 0 ? times.replayed / times.forward : 0;
  const Times again = collectives_of(block, shard, groups, kept.replay(block).replayed);
  const PhaseTime replay{part(cost.forward.compute, replayed), rounded(again.tensor_forward, factor),
                         rounded(again.context_forward, factor), rounded(again.expert_forward, factor)};
  cost.variants.push_back(by_operator(block, shard, cost, kept, {replay, again.wire_forward}));
  cost.variants.push_back(shard.recomputed.empty() ? cost.variant(Variant::kept)
                                                   : with_modules(times, block, shard, groups, cost));
  cost.variants.push_back(offload_kept(cost, shard.tensor_parallel, to_host_));
  if (!runs_backward(block)) std::fill(cost.variants.begin() + 1, cost.variants.end(), cost.variant(Variant::kept));
  cost.working = cost.variants[Variant::kept].working.backward;
  return cost;
}

}  // namespace plumbline
