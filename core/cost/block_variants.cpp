// The ways to run a block that need no search: kept, selective and full (arXiv:2205.05198, section 5), by operator
// (kept_by_operator.h), by modules.
#include <algorithm>

#include "core/cost/autocast.h"
#include "core/cost/block_times.h"
#include "core/cost/kept_by_operator.h"
#include "core/cost/overlap.h"
#include "core/cost/recompute_modules.h"
#include "core/sharding/op_work.h"

namespace plumbline {
namespace {

Flops attention_flops(const Block& block, const Shard& shard) {
  Flops sum(0);
  for (const Op& op : block.ops())
    if (op.kind == OpKind::attention) sum += op_work(block, op, shard).forward;
  return sum;
}

/// By op in order of execution: whether it is attention, which selective recompute runs again.
std::vector<bool> attention_replay(const Block& block) {
  std::vector<bool> ops;
  for (const OpId id : block.execution_order()) ops.push_back(block.op(id).kind == OpKind::attention);
  return ops;
}

/// What an activation makes and the product with what it scales reads, where a gate is two operators.
Bytes kept_activations(const PricedBlock& of, const StackFeatures& features) {
  Bytes sum(0);
  if (features.gates == OperatorKernels::fused) return sum;
  const std::vector<bool>& carries = of.block.carries_gradient();
  for (const Op& op : of.block.ops())
    if (op.kind == OpKind::gated_activation && carries[static_cast<std::size_t>(op.outputs.front().index())])
      sum += local_bytes(of.block.tensor(op.outputs.front()), of.shard);
  return sum;
}

/// Of what a replay reads, what is let go of before its gradients are made: parameters whose next use follows modules
/// with `reuse_distance` others or more. The replay runs its operators in order, the backward all of them from the last
/// to the first.
std::int64_t regathered(const PricedBlock& of, const std::vector<bool>& replayed, double reuse_distance) {
  if (reuse_distance <= 0) return 0;
  const std::vector<OpId> order = of.block.execution_order();
  std::int64_t again = 0;
  double between = 0;
  for (std::size_t i = order.size(); i-- > 0;) {
    std::int64_t parameters = 0;
    for (const TensorId id : of.block.op(order[i]).parameters)
      parameters += local_elements(of.block.tensor(id), of.shard);
    const bool is_replayed = i < replayed.size() && replayed[i];
    if (is_replayed && between >= reuse_distance) again += parameters;
    between += (is_replayed ? 2. : 1.) * static_cast<double>(parameters);
  }
  return again;
}

}  // namespace

CollectiveTimes BlockPricer::fold_replay(BlockVariant& variant, const PricedBlock& of, RecomputeMode mode,
                                         const MemoryProfile& kept, BackwardForm form) const {
  variant.memory.logits = kept.logits;
  if (!runs_backward(of.block)) return {};  // what it would read is not kept
  const BlockProgram program = of.lowering.lower({variant.replayed, mode, variant.kept, variant.place}, form);
  variant.regathered = regathered(of, variant.replayed, kernels_.calibration().stack.sharding.regathered_from_elements);
  variant.memory = memory_profile(program, form, variant.memory.saved, kept.logits);
  variant.restored = std::max(Bytes(0), variant.memory.working.backward - kept.working.backward);
  const CollectiveTimes replay = collectives(of, program, BlockPass::recompute);
  variant.wire = replay.wire;
  return replay;
}

void BlockPricer::add_ruled_variants(BlockCost& cost, const Times& times, const PricedBlock& of) const {
  const std::vector<SavedTensor>& saved = of.lowering.saved();
  BlockVariant kept;
  kept.memory = times.memory;
  const Bytes activations = kept_activations(of, kernels_.calibration().stack.features);
  kept.memory.saved = saved_bytes(saved, RecomputeMode::none, cost.boundary) + activations;

  // With context parallelism keys and values go round the ring again.
  BlockVariant selective;
  selective.memory.saved = saved_bytes(saved, RecomputeMode::selective, cost.boundary) + activations;
  selective.flops = attention_flops(of.block, of.shard);
  selective.replayed = attention_replay(of.block);
  const CollectiveTimes ring = fold_replay(selective, of, RecomputeMode::selective, kept.memory);
  selective.recompute = phase(times.attention, ring);
  selective.host = host_time(times.attention_kernels, ring.launches);

  BlockVariant full;
  full.recompute = cost.forward;
  full.memory.saved = cost.boundary;
  full.flops = cost.flops.forward;
  full.host = cost.host_forward;
  full.replayed = std::vector<bool>(of.block.ops().size(), true);
  fold_replay(full, of, RecomputeMode::full, kept.memory);
  cost.variants.reserve(Variant::first_placed);
  for (BlockVariant* variant : {&kept, &selective, &full}) cost.variants.push_back(std::move(*variant));
}

void BlockPricer::add_by_operator(BlockCost& cost, const Block& block, const Shard& shard, const BlockGroups& groups,
                                  KnownPrograms* known) const {
  if (!runs_backward(block)) return;
  if (!casts_itself(kernels_.calibration().stack.features, shard.formats))
    return add_by_operator_as_run(cost, {block, shard, groups, known});
  const Block run = with_32_bit_residuals(block);
  add_by_operator_as_run(cost, {run, shard, groups});
}

void BlockPricer::add_by_operator_as_run(BlockCost& cost, const PricedBlock& of) const {
  const Block& block = of.block;
  const KeptByOperator kept = kept_by_operator(block, of.shard);
  Times times;
  for (std::size_t op = 0; op < block.ops().size(); ++op) {
    const Seconds before = times.forward;
    add_op(times, block, block.ops()[op], of.shard);
    times.replayed += (1 - kept.share[op]) * (times.forward - before);
  }
  const double replayed = times.forward.value() > 0 ? times.replayed / times.forward : 0;
  cost.variants[Variant::by_operator] = by_operator(cost, of, kept, replayed);
}

/// `replayed`: of the forward's compute.
BlockVariant BlockPricer::by_operator(const BlockCost& cost, const PricedBlock& of, const KeptByOperator& kept,
                                      double replayed) const {
  const Replay replay = kept.replay(of.block);
  BlockVariant variant;
  variant.memory.saved = kept_bytes(of.block, of.shard, replay);
  variant.replayed = replay.replayed;
  variant.kept = replay.kept;
  const CollectiveTimes again = fold_replay(variant, of, RecomputeMode::by_operator, cost.memory());
  variant.recompute = phase(Seconds(0), again);
  variant.recompute.compute = part(cost.forward.compute, replayed);
  double ops = 0;
  for (const OpId id : of.block.execution_order()) {
    const double share = 1 - kept.share[static_cast<std::size_t>(id.index())];
    variant.flops += share * op_work(of.block, of.block.op(id), of.shard).forward;
    if (share > 0) ++ops;
  }
  const auto all_ops = static_cast<double>(std::max<std::size_t>(1, variant.replayed.size()));
  variant.host = part(cost.host_forward, ops / all_ops);
  return variant;
}

BlockVariant BlockPricer::with_modules(const BlockCost& cost, const Times& times, const PricedBlock& of) const {
  BlockVariant variant;
  variant.replayed = replayed_by_modules(of.block, of.shard.recomputed);
  if (std::none_of(variant.replayed.begin(), variant.replayed.end(), [](bool is) { return is; }))
    return cost.variant(Variant::kept);
  Seconds compute(0);
  double kernels = 0;
  for (std::size_t i = 0; i < variant.replayed.size(); ++i) {
    if (!variant.replayed[i]) continue;
    const OpId id = of.block.execution_order()[i];
    compute += times.op_forward[static_cast<std::size_t>(id.index())];
    kernels += times.op_kernels[static_cast<std::size_t>(id.index())];
    variant.flops += op_work(of.block, of.block.op(id), of.shard).forward;
  }
  variant.memory.saved = kept_bytes(of.block, of.shard, {variant.replayed, RecomputeMode::modules});
  const CollectiveTimes again = fold_replay(variant, of, RecomputeMode::modules, cost.memory());
  variant.recompute = phase(compute, again);
  variant.host = host_time(kernels, again.launches);
  return variant;
}

BlockVariant BlockPricer::in_row(const BlockCost& cost, const PricedBlock& of, ReplayPlace place) const {
  BlockVariant variant = cost.variant(Variant::full);
  if (of.shard.joined_layers == JoinedLayers::none || of.block.kind() != BlockKind::layer) return variant;
  variant.place = place;
  variant.memory = {};
  variant.copies = {};
  variant.copied = Bytes(0);
  if (!is_given_input(place)) variant.memory.saved = cost.boundary;
  fold_replay(variant, of, RecomputeMode::full, cost.memory());
  // Between its replay and its backward the layers behind it run, so ZeRO-3 gathers its parameters again.
  if (hands_on(place)) variant.regathered = cost.parameters.total();
  return variant;
}

}  // namespace plumbline
