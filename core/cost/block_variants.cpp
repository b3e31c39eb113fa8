#include "core/cost/block_variants.h"

#include <algorithm>

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

}  // namespace

std::vector<bool> attention_replay(const Block& block) {
  std::vector<bool> ops;
  for (const OpId id : block.execution_order()) ops.push_back(block.op(id).kind == OpKind::attention);
  return ops;
}

BlockVariant by_operator(const Block& block, const Shard& shard, const BlockCost& cost, const KeptByOperator& kept,
                         const OperatorReplay& takes) {
  const Replay replay = kept.replay(block);
  BlockVariant variant;
  variant.recompute = takes.time;
  variant.wire = takes.wire;
  variant.saved = kept_bytes(block, shard, replay);
  variant.replayed = replay.replayed;
  variant.kept = replay.kept;
  set_working_sets(variant, WorkingSetModel(block, shard), RecomputeMode::by_operator,
                   cost.variant(Variant::kept).working.backward);
  double replayed = 0;
  for (const OpId id : block.execution_order()) {
    const double share = 1 - kept.share[static_cast<std::size_t>(id.index())];
    variant.flops += share * op_work(block, block.op(id), shard).forward;
    if (share > 0) ++replayed;
  }
  const auto all_ops = static_cast<double>(std::max<std::size_t>(1, variant.replayed.size()));
  variant.host = part(cost.host_forward, replayed / all_ops);
  return variant;
}

std::vector<BlockVariant> ruled_variants(const Block& block, const Shard& shard, const BlockCost& cost,
                                         const AttentionReplay& attention) {
  const std::vector<SavedTensor> saved = saved_tensors(block, shard);
  const Bytes all = saved_bytes(saved, RecomputeMode::none, cost.boundary);
  const Bytes selective = saved_bytes(saved, RecomputeMode::selective, cost.boundary);
  std::vector<BlockVariant> variants{{{}, all, Bytes(0), Flops(0), {}, Picoseconds(0), {}, {}},
                                     {attention.time,
                                      selective,
                                      Bytes(0),
                                      attention_flops(block, shard),
                                      attention.wire,
                                      attention.host,
                                      attention_replay(block),
                                      {}},
                                     {cost.forward,
                                      cost.boundary,
                                      Bytes(0),
                                      cost.flops.forward,
                                      cost.wire_forward,
                                      cost.host_forward,
                                      std::vector<bool>(block.ops().size(), true),
                                      {}}};
  const WorkingSetModel model(block, shard);
  variants[Variant::kept].working = model.of({});
  const Bytes working = variants[Variant::kept].working.backward;
  set_working_sets(variants[Variant::selective], model, RecomputeMode::selective, working);
  set_working_sets(variants[Variant::full], model, RecomputeMode::full, working);
  return variants;
}

}  // namespace plumbline
