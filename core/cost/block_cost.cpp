#include "core/cost/block_cost.h"

#include <algorithm>
#include <cmath>

#include "core/cost/autocast.h"
#include "core/cost/block_times.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/orthogonalisation_time.h"
#include "core/cost/overlap.h"
#include "core/cost/time_limits.h"

namespace plumbline {
namespace {

Picoseconds rounded(Seconds time, double factor) { return phase_time(factor * time); }

}  // namespace

BlockPricer::BlockPricer(const Cluster& cluster, const Calibration& calibration)
    : kernels_(slowest_device(cluster), calibration),
      passes_(calibration.stack.features),
      communication_(cluster),
      to_host_(slowest_to_host(cluster)) {}

Picoseconds BlockPricer::host_time(double kernels, double collectives) const {
  const StackCalibration& stack = kernels_.calibration().stack;
  return phase_time(
      Seconds(kernels * stack.host.host_time_per_kernel_s + collectives * stack.host.host_time_per_collective_s));
}

namespace {

/// Where the host waits for the tokens per expert it cannot run ahead of the device: the pass takes what is longer.
void synchronise(BlockTimes& cost, const Block& block, const StackCalibration& stack) {
  const auto dispatches = [](const Op& op) { return op.kind == OpKind::dispatch; };
  if (stack.experts.expert_synchronisation <= 0 || std::none_of(block.ops().begin(), block.ops().end(), dispatches))
    return;
  const Picoseconds waited = std::max(Picoseconds(0), cost.host_forward - cost.forward.total());
  cost.forward.compute += part(waited, stack.experts.expert_synchronisation);
  cost.host_forward = std::max(cost.host_forward, cost.forward.total());
}

}  // namespace

PhaseTime BlockPricer::phase(Seconds compute, const CollectiveTimes& collectives) const {
  const double factor = kernels_.calibration().stack.compute.step_factor;
  return {rounded(compute, factor), rounded(collectives.tensor, factor), rounded(collectives.context, factor),
          rounded(collectives.expert, factor)};
}

BlockCost BlockPricer::price(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  BlockCost cost = price_without_by_operator(block, shard, groups);
  add_by_operator(cost, block, shard, groups);
  return cost;
}

LoweringTarget BlockPricer::target() const {
  return {kernels_.calibration().stack, communication_.cluster(), kernels_.fp8_layouts()};
}

/// Programs are known by their block, so those of a block that is made here are not.
BlockCost BlockPricer::price_without_by_operator(const Block& block, const Shard& shard, const BlockGroups& groups,
                                                 KnownPrograms* known) const {
  const LoweringTarget target = this->target();
  if (!casts_itself(target.stack.features, shard.formats)) return price_as_run({block, shard, groups, target, known});
  const Block run = with_32_bit_residuals(block);
  return price_as_run({run, shard, groups, target});
}

ForwardCost BlockPricer::price_forward(const Block& block, const Shard& shard, const BlockGroups& groups) const {
  const LoweringTarget target = this->target();
  const Block run = as_run(block, shard, target.stack.features);
  const LoweredBlock of{run, shard, groups, target};
  Times times;
  const BlockTimes passes = pass_times(times, of, pass_sends(of, of.lowering.lower({})));
  return {passes.forward, passes.host_forward};
}

BlockCost BlockPricer::price_as_run(const LoweredBlock& of) const {
  SizedBlock sized = sized_block(of);
  BlockTimes times = times_of(of, sized);
  return {std::move(sized.sizes), std::move(times)};
}

BlockTimes BlockPricer::times_of(const LoweredBlock& of, const SizedBlock& sized) const {
  Times times;
  BlockTimes result = pass_times(times, of, sized.sends.passes);
  if (of.shard.orthogonalises)
    result.orthogonalisation = rounded(orthogonalisation_time(kernels_, of.block, of.shard), 1);
  result.variant_times = variant_times(result, times, of, sized);
  return result;
}

BlockTimes BlockPricer::pass_times(Times& times, const LoweredBlock& of, const PassSends& sends) const {
  for (const Op& op : of.block.ops()) {
    const Seconds before = times.forward;
    const double kernels = times.kernels.forward;
    add_op(times, of.block, op, of.shard);
    times.op_forward.push_back(times.forward - before);
    times.op_kernels.push_back(times.kernels.forward - kernels);
  }
  const StackCalibration& stack = kernels_.calibration().stack;
  const CollectiveTimes forward = collectives(of, sends.forward, BlockPass::forward);
  const CollectiveTimes backward = collectives(of, sends.backward, BlockPass::backward);
  BlockTimes passes;
  passes.forward = phase(times.forward, forward);
  passes.backward = phase(times.backward, backward);
  passes.host_forward = host_time(times.kernels.forward, forward.launches);
  passes.host_backward = host_time(times.kernels.backward, backward.launches);
  passes.host_backward_weight = host_time(times.kernels.backward_weight, 0);
  passes.backward_weight = std::min(passes.backward.compute, rounded(times.backward_weight, stack.compute.step_factor));
  passes.waits_for_transfers = stack.features.at_transfers == HostPace::waits;
  passes.waits_for_passes = stack.features.at_passes == HostPace::waits;
  synchronise(passes, of.block, stack);
  return passes;
}

}  // namespace plumbline
