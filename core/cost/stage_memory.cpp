#include "core/cost/stage_memory.h"

#include <algorithm>
#include <numeric>

#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

/// Unsharded units alive at once: the one in use and the prefetched one.
constexpr std::int64_t gathered_units = 2;
/// A pipeline rank receives the next activation and the next gradient while it works on the present ones.
constexpr std::int64_t pipeline_buffers = 2;
/// Row- and column-wise fp8 copies of each product's weight, kept over the micro-batches of a step (Transformer
/// Engine).
constexpr std::int64_t fp8_copies = 2;

Bytes coefficient_bytes(double value) { return Bytes(static_cast<std::int64_t>(value)); }

std::int64_t communicator_count(const Strategy& s) {
  std::int64_t count = 0;
  for (const Axis axis : {Axis::tensor, Axis::context, Axis::gradient, Axis::pipeline, Axis::expert})
    if (rank_group(s, axis).size > 1) ++count;
  if (s.zero_stage > 0 && s.shard_group != s.gradient_ranks()) ++count;
  return count;
}

}  // namespace

ShardRanks shard_ranks(const Strategy& s) {
  if (s.zero_stage == 0) return {1, 1};
  const std::int64_t expert = std::max<std::int64_t>(1, s.expert_gradient_ranks());
  // A hybrid group of experts is the largest that divides both the shard group and the ranks that hold these experts.
  return {s.shard_group, s.shard_group == s.gradient_ranks() ? expert : std::gcd(s.shard_group, expert)};
}

Bytes gathered_unit_bytes(std::int64_t largest_unit, NumberFormat format) {
  return gathered_units * storage(largest_unit, format);
}

MemoryBreakdown stage_memory(const StageCost& stage, const Strategy& s, const PrecisionFormats& formats,
                             Optimizer optimizer, const StackCalibration& stack, std::int32_t rank) {
  MemoryBreakdown memory;
  const ModelState state = model_state(stage.parameters, formats, optimizer, s.zero_stage, shard_ranks(s));
  memory[MemoryClass::weights] = state.weights;
  memory[MemoryClass::gradients] = state.gradients;
  memory[MemoryClass::master_weights] = state.master_weights;
  memory[MemoryClass::optimizer_state] = state.optimizer_state;
  memory[MemoryClass::activations] =
      (stage.saved * chunks_in_flight(s, rank) + Bytes(s.virtual_stages - 1)) / std::int64_t{s.virtual_stages};
  memory[MemoryClass::working_buffers] = stage.working;
  if (bits(formats.matmul) == 8)
    memory[MemoryClass::working_buffers] += storage(stage.parameters.product_weights * fp8_copies, formats.matmul);
  memory[MemoryClass::logits_and_loss] = (s.schedule == Schedule::gpipe ? s.micro_batches : 1) * stage.logits;
  Bytes gathered(0);
  if (s.zero_stage >= 3) gathered += gathered_unit_bytes(stage.largest_unit_parameters, formats.weight);
  if (s.zero_stage >= 2) gathered += gathered_unit_bytes(stage.largest_unit_trained, formats.gradient);
  memory[MemoryClass::gathered_parameters] = gathered;
  const Bytes received = s.pipeline_stages > 1 ? pipeline_buffers * stage.boundary : Bytes(0);
  memory[MemoryClass::communication_buffers] =
      communicator_count(s) * coefficient_bytes(stack.communicator_bytes) + received;
  memory[MemoryClass::framework_and_context] = coefficient_bytes(stack.context_bytes + stack.workspace_bytes);
  const double live = static_cast<double>(memory.live().value());
  memory[MemoryClass::fragmentation] = coefficient_bytes(live * stack.fragmentation_fraction);
  return memory;
}

}  // namespace plumbline
