// What a stage takes: sums over its blocks, and where the device waits for the host.
#include <algorithm>

#include "core/cost/overlap.h"
#include "core/cost/stage_cost.h"
#include "core/cost/time_limits.h"

namespace plumbline {
namespace {

PhaseTime times(PhaseTime time, std::int64_t count) {
  return {repeated(time.compute, count), repeated(time.tensor_parallel, count), repeated(time.context_parallel, count),
          repeated(time.expert_parallel, count)};
}

void add_block(StagePassTimes& stage, const BlockTimes& block, std::int64_t count) {
  stage.forward += times(block.forward, count);
  stage.backward += times(block.backward, count);
  add_phase(stage.backward_weight, repeated(block.backward_weight, count));
  add_phase(stage.host_forward, repeated(block.host_forward, count));
  add_phase(stage.host_backward, repeated(block.host_backward, count));
  add_phase(stage.host_backward_weight, repeated(block.host_backward_weight, count));
  add_phase(stage.orthogonalisation, repeated(block.orthogonalisation, count));
}

void add_variant(StagePassTimes& stage, const VariantTimes& variant, std::int64_t count) {
  stage.recompute += times(variant.recompute, count);
  add_phase(stage.copies.forward, repeated(variant.copies.forward, count));
  add_phase(stage.copies.backward, repeated(variant.copies.backward, count));
  add_phase(stage.host_backward, repeated(variant.host, count));
}

/// Host and device take the blocks of a pass in one order: the device runs what was launched.
class PassEnd {
 public:
  void add(Picoseconds device, Picoseconds host) {
    add_phase(launched_, host);
    ended_ = std::min(std::max(ended_ + device, launched_), longest_phase);
  }
  [[nodiscard]] Picoseconds time() const { return ended_; }

 private:
  Picoseconds launched_{0};
  Picoseconds ended_{0};
};

void find_pass_ends(StagePassTimes& stage, const RankContent& content, const std::vector<BlockCost>& blocks) {
  PassEnd forward;
  PassEnd backward;
  auto of_block = content.variants.begin();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    Picoseconds device = repeated(blocks[b].forward.total(), content.executions[b]);
    for (; of_block != content.variants.end() && of_block->block == static_cast<std::int32_t>(b); ++of_block)
      add_phase(device, repeated(blocks[b].times(of_block->variant).copies.forward, of_block->count));
    forward.add(device, repeated(blocks[b].host_forward, content.executions[b]));
  }
  auto counted = content.variants.rbegin();
  for (std::size_t b = blocks.size(); b-- > 0;) {
    Picoseconds device = repeated(blocks[b].backward.total(), content.executions[b]);
    Picoseconds host = repeated(blocks[b].host_backward, content.executions[b]);
    for (; counted != content.variants.rend() && counted->block == static_cast<std::int32_t>(b); ++counted) {
      const VariantTimes& variant = blocks[b].times(counted->variant);
      add_phase(device, repeated(variant.recompute.total() + variant.copies.backward, counted->count));
      add_phase(host, repeated(variant.host, counted->count));
    }
    backward.add(device, host);
  }
  stage.forward_end = forward.time();
  stage.backward_end = backward.time();
}

struct HostWait {
  Picoseconds forward{0};
  Picoseconds backward{0};
  Picoseconds backward_weight{0};  ///< of backward
};

HostWait host_wait(const StagePassTimes& stage) {
  const Picoseconds device_forward = stage.forward.total() + stage.copies.forward;
  const Picoseconds device_backward = stage.backward.total() + stage.recompute.total() + stage.copies.backward;
  const Picoseconds forward =
      std::max({Picoseconds(0), stage.host_forward - device_forward, stage.forward_end - device_forward});
  const Picoseconds backward =
      std::max({Picoseconds(0), stage.host_backward - device_backward, stage.backward_end - device_backward});
  if (forward + backward <= Picoseconds(0)) return {};
  const Picoseconds ahead =
      std::max(Picoseconds(0), stage.host_forward + stage.host_backward - device_forward - device_backward);
  const Picoseconds both = stage.host_waits ? forward + backward : ahead;
  const Picoseconds of_forward = part(both, forward / (forward + backward));
  const Picoseconds of_backward = both - of_forward;
  const auto late = [](Picoseconds host, Picoseconds device) { return std::max(Picoseconds(0), host - device); };
  const Picoseconds weight = late(stage.host_backward_weight, stage.backward_weight);
  const Picoseconds input =
      late(stage.host_backward - stage.host_backward_weight, device_backward - stage.backward_weight);
  const bool is_late = weight + input > Picoseconds(0);
  return {of_forward, of_backward, is_late ? part(of_backward, weight / (weight + input)) : Picoseconds(0)};
}

}  // namespace

StagePassTimes stage_pass_times(const RankContent& content, const std::vector<BlockCost>& blocks) {
  StagePassTimes result;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (content.executions[b] == 0) continue;
    add_block(result, blocks[b], content.executions[b]);
    result.host_waits =
        result.host_waits || blocks[b].waits_for_passes || (content.receives && blocks[b].waits_for_transfers);
  }
  for (const VariantCount& counted : content.variants) {
    const auto b = static_cast<std::size_t>(counted.block);
    if (content.executions[b] > 0) add_variant(result, blocks[b].times(counted.variant), counted.count);
  }
  find_pass_ends(result, content, blocks);
  return result;
}

Picoseconds StagePassTimes::forward_wait() const { return host_wait(*this).forward; }
Picoseconds StagePassTimes::backward_wait() const { return host_wait(*this).backward; }
Picoseconds StagePassTimes::backward_weight_wait() const { return host_wait(*this).backward_weight; }

Picoseconds StagePassTimes::passes_with(Picoseconds replay) const {
  return std::max(forward.total() + backward.total() + recompute.total() + copies.total() + replay,
                  host_forward + host_backward);
}

}  // namespace plumbline
