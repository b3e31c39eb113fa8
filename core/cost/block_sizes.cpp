#include "core/cost/block_sizes.h"

#include <algorithm>
#include <memory>

#include "core/cost/attention_scratch.h"
#include "core/cost/autocast.h"
#include "core/cost/chunked_head.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/kept_by_operator.h"
#include "core/cost/recompute_modules.h"
#include "core/sharding/logits.h"

namespace plumbline {
namespace {

/// Maximum, sum and target logit of each token (kernels/cross_entropy.h; Megatron-LM's parallel loss).
constexpr std::int64_t loss_values_per_token = 3;

/// Of a rank's logits, how many exist at once.
double living_share(const LoweredBlock& of, TensorId logits) {
  if (of.target.stack.features.head_products == HeadProducts::whole) return 1;
  const OpId head = of.block.producer(logits);
  if (!head.is_valid()) return 1;
  const OpWork work = op_work(of.block, of.block.op(head), of.shard);
  if (work.kind != WorkKind::product) return 1;
  return static_cast<double>(chunked_head(*work.product).rows) /
         static_cast<double>(std::max<std::int64_t>(1, work.product->batch * work.product->m));
}

/// Logits that live until their own backward ends take at least what a rank stores of them.
Bytes held_logits(const LoweredBlock& of) {
  const double bytes_per_logit = of.target.stack.memory.logit_bytes;
  const bool are_held = of.target.stack.features.logits == LogitLifetime::own_backward;
  Bytes sum(0);
  for (const Op& op : of.block.ops())
    if (op.kind == OpKind::cross_entropy) {
      const Tensor& logits = of.block.tensor(op.inputs.front());
      const double living = living_share(of, op.inputs.front()) * static_cast<double>(local_elements(logits, of.shard));
      const Bytes counted(static_cast<std::int64_t>(bytes_per_logit * living));
      sum += are_held ? std::max(counted, logit_bytes(logits, of.shard)) : counted;
      sum += storage(local_rows(logits, of.shard) * loss_values_per_token, NumberFormat::fp32);
    }
  return sum;
}

Flops attention_flops(const LoweredBlock& of) {
  Flops sum(0);
  for (const Op& op : of.block.ops())
    if (op.kind == OpKind::attention) sum += op_work(of.block, op, of.shard).forward;
  return sum;
}

/// By op in order of execution: whether it is attention, which selective recompute runs again.
std::vector<bool> attention_replay(const Block& block) {
  std::vector<bool> ops;
  for (const OpId id : block.execution_order()) ops.push_back(block.op(id).kind == OpKind::attention);
  return ops;
}

/// What an activation makes and the product with what it scales reads, where a gate is two operators.
Bytes kept_activations(const LoweredBlock& of) {
  Bytes sum(0);
  if (of.target.stack.features.gates == OperatorKernels::fused) return sum;
  const std::vector<bool>& carries = of.block.carries_gradient();
  for (const Op& op : of.block.ops())
    if (op.kind == OpKind::gated_activation && carries[static_cast<std::size_t>(op.outputs.front().index())])
      sum += local_bytes(of.block.tensor(op.outputs.front()), of.shard);
  return sum;
}

/// Of what a replay reads, what is let go of before its gradients are made: parameters whose next use follows modules
/// with `reuse_distance` others or more. The replay runs its operators in order, the backward all of them from the last
/// to the first.
std::int64_t regathered(const LoweredBlock& of, const std::vector<bool>& replayed) {
  const double reuse_distance = of.target.stack.sharding.regathered_from_elements;
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

/// The passes of a block, and what does not depend on recompute.
BlockSizes sizes_of_passes(const LoweredBlock& of, const PassSends& sends) {
  const StackFeatures& features = of.target.stack.features;
  BlockSizes sizes;
  sizes.boundary = boundary_bytes(of.block, of.shard);
  if (of.block.needs_input_gradient()) sizes.boundary_gradient = sizes.boundary;
  if (features.stage_outputs == StageOutputs::kept) sizes.kept_output = sizes.boundary;
  if (features.attention_scratch == AttentionScratch::parts_by_keys && runs_backward(of.block))
    sizes.attention_scratch = attention_scratch(of.block, of.shard);
  sizes.frees_logits = features.logits == LogitLifetime::next_backward;
  if (of.block.kind() != BlockKind::output)
    for (const TensorId id : of.block.outputs()) sizes.output += local_bytes(of.block.tensor(id), of.shard);
  sizes.parameters = rank_parameters(of.block, of.shard);
  if (!needs_turned_copies(of.shard.formats.scaling, of.target.fp8_layouts))
    sizes.unturned_weights = sizes.parameters.product_weights;
  sizes.tensors = parameter_tensors(of.block, of.shard, of.target.stack.sharding.gathered_from_elements);
  sizes.flops = block_flops(of.block, of.shard);
  sizes.wire_forward = sent_bytes(sends.forward, of.groups);
  sizes.wire_backward = sent_bytes(sends.backward, of.groups);
  return sizes;
}

/// Kept, selective and full. With context parallelism a selective replay sends keys and values round the ring again.
void add_ruled_sizes(SizedBlock& block, const LoweredBlock& of, MemoryProfile passes) {
  BlockSizes& sizes = block.sizes;
  const std::vector<SavedTensor>& saved = of.lowering.saved();
  const Bytes activations = kept_activations(of);
  VariantSizes kept;
  kept.memory = passes;
  kept.memory.saved = saved_bytes(saved, RecomputeMode::none, sizes.boundary) + activations;

  VariantSizes selective;
  selective.memory.saved = saved_bytes(saved, RecomputeMode::selective, sizes.boundary) + activations;
  selective.flops = attention_flops(of);
  selective.replayed = attention_replay(of.block);
  block.sends.selective = fold_replay(selective, of, RecomputeMode::selective, kept.memory);

  VariantSizes full;
  full.memory.saved = sizes.boundary;
  full.flops = sizes.flops.forward;
  full.replayed = std::vector<bool>(of.block.ops().size(), true);
  fold_replay(full, of, RecomputeMode::full, kept.memory);
  sizes.variants.reserve(Variant::first_placed);
  for (VariantSizes* variant : {&kept, &selective, &full}) sizes.variants.push_back(std::move(*variant));
}

SizedVariant with_modules(const BlockSizes& sizes, const LoweredBlock& of) {
  if (of.shard.recomputed.empty()) return {sizes.variant(Variant::kept), {}};
  SizedVariant variant;
  std::vector<bool>& replayed = variant.sizes.replayed;
  replayed = replayed_by_modules(of.block, of.shard.recomputed);
  if (!variant.sizes.replays()) return {sizes.variant(Variant::kept), {}};
  for (std::size_t i = 0; i < replayed.size(); ++i)
    if (replayed[i])
      variant.sizes.flops += op_work(of.block, of.block.op(of.block.execution_order()[i]), of.shard).forward;
  variant.sizes.memory.saved = kept_bytes(of.block, of.shard, {replayed, RecomputeMode::modules});
  variant.sends = fold_replay(variant.sizes, of, RecomputeMode::modules, sizes.memory());
  return variant;
}

/// Of `full`, in a row of layers; as `full` where the strategy has none.
VariantSizes in_row(const BlockSizes& sizes, const LoweredBlock& of, ReplayPlace place) {
  VariantSizes variant = sizes.variant(Variant::full);
  if (of.shard.joined_layers == JoinedLayers::none || of.block.kind() != BlockKind::layer) return variant;
  variant.place = place;
  variant.memory = {};
  variant.copied = Bytes(0);
  if (!is_given_input(place)) variant.memory.saved = sizes.boundary;
  fold_replay(variant, of, RecomputeMode::full, sizes.memory());
  // Between its replay and its backward the layers behind it run, so ZeRO-3 gathers its parameters again.
  if (hands_on(place)) variant.regathered = sizes.parameters.total();
  return variant;
}

}  // namespace

bool VariantSizes::replays() const {
  return std::any_of(replayed.begin(), replayed.end(), [](bool is) { return is; });
}

BlockGroups block_groups(const Strategy& s) {
  return {rank_group(s, Axis::tensor), rank_group(s, Axis::context), rank_group(s, Axis::expert),
          rank_group(s, Axis::expert_tensor), record_of(s.schedule).paired};
}

bool runs_backward(const Block& block) {
  return std::any_of(block.outputs().begin(), block.outputs().end(),
                     [&](TensorId id) { return block.carries_gradient()[static_cast<std::size_t>(id.index())]; });
}

std::vector<BlockSend> fold_replay(VariantSizes& variant, const LoweredBlock& of, RecomputeMode mode,
                                   const MemoryProfile& kept, BackwardForm form) {
  variant.memory.logits = kept.logits;
  if (!runs_backward(of.block)) return {};  // what it would read is not kept
  const std::shared_ptr<const BlockProgram> program =
      of.lowering.shared({variant.replayed, mode, variant.kept, variant.place}, form);
  variant.regathered = regathered(of, variant.replayed);
  variant.memory = memory_profile(*program, form, variant.memory.saved, kept.logits);
  variant.restored = std::max(Bytes(0), variant.memory.working.backward - kept.working.backward);
  std::vector<BlockSend> sends = stack_sends(of, *program, BlockPass::recompute);
  variant.wire = sent_bytes(sends, of.groups);
  return sends;
}

SizedBlock sized_block(const LoweredBlock& of) {
  const std::shared_ptr<const BlockProgram> program = of.lowering.shared({});
  SizedBlock block;
  block.sends.passes = pass_sends(of, *program);
  block.sizes = sizes_of_passes(of, block.sends.passes);
  add_ruled_sizes(block, of, memory_profile(*program, BackwardForm::split, Bytes(0), held_logits(of)));
  BlockSizes& sizes = block.sizes;
  const bool holds_checkpoints =
      of.target.stack.features.layer_checkpoints == LayerCheckpoints::on_host && of.block.kind() == BlockKind::layer;
  if (holds_checkpoints) hold_on_host(sizes.variants[Variant::full], of.shard.tensor_parallel);
  sizes.variants.push_back(sizes.variant(Variant::kept));
  SizedVariant modules = with_modules(sizes, of);
  sizes.variants.push_back(std::move(modules.sizes));
  block.sends.modules = std::move(modules.sends);
  sizes.variants.push_back(offloaded_kept(sizes, of.shard.tensor_parallel));
  for (const ReplayPlace place : {ReplayPlace::first, ReplayPlace::middle, ReplayPlace::last})
    sizes.variants.push_back(in_row(sizes, of, place));
  if (holds_checkpoints && of.shard.joined_layers == JoinedLayers::some)
    hold_on_host(sizes.variants[Variant::replayed_first], of.shard.tensor_parallel);
  if (!runs_backward(of.block))
    std::fill(sizes.variants.begin() + 1, sizes.variants.end(), sizes.variant(Variant::kept));
  return block;
}

SizedVariant by_operator_sizes(const LoweredBlock& of, const KeptByOperator& kept, const MemoryProfile& whole) {
  const Replay replay = kept.replay(of.block);
  SizedVariant variant;
  variant.sizes.memory.saved = kept_bytes(of.block, of.shard, replay);
  variant.sizes.replayed = replay.replayed;
  variant.sizes.kept = replay.kept;
  variant.sends = fold_replay(variant.sizes, of, RecomputeMode::by_operator, whole);
  for (const OpId id : of.block.execution_order()) {
    const double share = 1 - kept.share[static_cast<std::size_t>(id.index())];
    variant.sizes.flops += share * op_work(of.block, of.block.op(id), of.shard).forward;
  }
  return variant;
}

namespace {

BlockSizes sizes_as_run(const LoweredBlock& of) {
  BlockSizes sizes = sized_block(of).sizes;
  if (runs_backward(of.block))
    sizes.variants[Variant::by_operator] =
        by_operator_sizes(of, kept_by_operator(of.block, of.shard), sizes.memory()).sizes;
  return sizes;
}

}  // namespace

/// Programs are known by their block, so those of a block that is made here are not.
BlockSizes block_sizes(const Block& block, const Shard& shard, const BlockGroups& groups, const LoweringTarget& target,
                       KnownPrograms* known) {
  if (!casts_itself(target.stack.features, shard.formats)) return sizes_as_run({block, shard, groups, target, known});
  const Block run = with_32_bit_residuals(block);
  return sizes_as_run({run, shard, groups, target});
}

}  // namespace plumbline
