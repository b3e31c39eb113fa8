// What the ways to run a block take that need no search: kept, selective and full (arXiv:2205.05198, section 5), by
// operator (kept_by_operator.h), by modules.
#include <algorithm>

#include "core/cost/autocast.h"
#include "core/cost/block_times.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/kept_by_operator.h"
#include "core/cost/overlap.h"

namespace plumbline {

VariantTimes BlockPricer::times_of_modules(const Times& times, const LoweredBlock& of, const SizedBlock& sized) const {
  const std::vector<bool>& replayed = sized.sizes.variant(Variant::modules).replayed;
  Seconds compute(0);
  double kernels = 0;
  for (std::size_t i = 0; i < replayed.size(); ++i) {
    if (!replayed[i]) continue;
    const auto op = static_cast<std::size_t>(of.block.execution_order()[i].index());
    compute += times.op_forward[op];
    kernels += times.op_kernels[op];
  }
  const CollectiveTimes again = collectives(of, sized.sends.modules, BlockPass::recompute);
  return {phase(compute, again), host_time(kernels, again.launches)};
}

std::vector<VariantTimes> BlockPricer::variant_times(const BlockTimes& passes, const Times& times,
                                                     const LoweredBlock& of, const SizedBlock& sized) const {
  std::vector<VariantTimes> variants(sized.sizes.variants.size());
  if (!runs_backward(of.block)) return variants;
  const CollectiveTimes ring = collectives(of, sized.sends.selective, BlockPass::recompute);
  variants[Variant::selective] = {phase(times.attention, ring), host_time(times.attention_kernels, ring.launches)};
  variants[Variant::modules] = times_of_modules(times, of, sized);
  const auto copy_of = [&](std::int32_t variant) {
    return phase_time(copy_time(sized.sizes.variant(variant).copied, to_host_));
  };
  // Nothing runs alongside copies of checkpoints; what is offloaded leaves and comes back alongside passes.
  for (const std::int32_t whole :
       {Variant::full, Variant::replayed_first, Variant::replayed_middle, Variant::replayed_last}) {
    const Picoseconds copy = copy_of(whole);
    variants[static_cast<std::size_t>(whole)] = {passes.forward, passes.host_forward, {copy, copy}};
  }
  const Picoseconds copy = copy_of(Variant::offloaded);
  variants[Variant::offloaded].copies = {std::max(Picoseconds(0), copy - passes.forward.total()),
                                         std::max(Picoseconds(0), copy - passes.backward.total())};
  return variants;
}

void BlockPricer::add_by_operator(BlockCost& cost, const Block& block, const Shard& shard, const BlockGroups& groups,
                                  KnownPrograms* known) const {
  if (!runs_backward(block)) return;
  const LoweringTarget target = this->target();
  if (!casts_itself(target.stack.features, shard.formats))
    return add_by_operator_as_run(cost, {block, shard, groups, target, known});
  const Block run = with_32_bit_residuals(block);
  add_by_operator_as_run(cost, {run, shard, groups, target});
}

void BlockPricer::add_by_operator_as_run(BlockCost& cost, const LoweredBlock& of) const {
  const Block& block = of.block;
  const KeptByOperator kept = kept_by_operator(block, of.shard);
  Times times;
  for (std::size_t op = 0; op < block.ops().size(); ++op) {
    const Seconds before = times.forward;
    add_op(times, block, block.ops()[op], of.shard);
    times.replayed += (1 - kept.share[op]) * (times.forward - before);
  }
  const double replayed = times.forward.value() > 0 ? times.replayed / times.forward : 0;
  SizedVariant variant = by_operator_sizes(of, kept, cost.memory());
  const CollectiveTimes again = collectives(of, variant.sends, BlockPass::recompute);
  VariantTimes& takes = cost.variant_times[Variant::by_operator];
  takes = {phase(Seconds(0), again)};
  takes.recompute.compute = part(cost.forward.compute, replayed);
  const auto ops = static_cast<double>(
      std::count_if(kept.share.begin(), kept.share.end(), [](double share) { return 1 - share > 0; }));
  const auto all_ops = static_cast<double>(std::max<std::size_t>(1, variant.sizes.replayed.size()));
  takes.host = part(cost.host_forward, ops / all_ops);
  cost.variants[Variant::by_operator] = std::move(variant.sizes);
}

}  // namespace plumbline
