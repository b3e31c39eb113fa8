#include "core/cost/routed_sizes.h"

#include <algorithm>
#include <map>

#include "core/base/errors.h"
#include "core/cost/working_set.h"

namespace plumbline {
namespace {

const Block& block_of(const BalancedPlan& plan, std::int32_t execution) {
  return plan.graph.block(plan.graph.sequence()[static_cast<std::size_t>(execution)]);
}

bool is_routed(const Tensor& tensor) {
  return tensor.partition == Partition::routed || tensor.partition == Partition::routed_tensor;
}

/// What the extra rows add to kept tensors of routed rows.
Bytes extra_saved(const Block& block, const KeepRule& rule, const Shard& balanced, const Shard& routed) {
  Bytes extra(0);
  for (std::size_t t = 0; t < block.tensors().size(); ++t) {
    const Tensor& tensor = block.tensors()[t];
    if (rule.keeps_tensor[t] && is_routed(tensor)) extra += local_bytes(tensor, routed) - local_bytes(tensor, balanced);
  }
  return extra;
}

bool splits_backwards(const RankOrder& order) {
  return std::any_of(order.begin(), order.end(),
                     [](const ComputeAction& a) { return a.kind == ActionKind::backward_weight; });
}

/// What is given is a rank's own choices, less those that left and with those that came, times the others.
std::int64_t extra_rows(const BalancedPlan& plan, const RoutedRows& rows) {
  return plan.shard.expert_tensor_parallel * (rows.came - rows.left) + rows.gathered - rows.given;
}

Shard with_extra_rows(const Shard& shard, std::int64_t rows) {
  Shard routed = shard;
  routed.extra_rows = rows;
  return routed;
}

/// What an execution keeps more of one row more.
Bytes saved_of_row(const BalancedPlan& plan, std::int32_t execution) {
  const Block& block = block_of(plan, execution);
  const KeepRule rule = keep_rule(block, plan.shard, plan.replays[static_cast<std::size_t>(execution)]);
  return extra_saved(block, rule, plan.shard, with_extra_rows(plan.shard, 1));
}

void route(SegmentSizes& segment, const BalancedPlan& plan, const RoutedRows& rows, bool splits) {
  const std::int32_t execution = segment.executions.first;
  const Block& block = block_of(plan, execution);
  const Replay& replay = plan.replays[static_cast<std::size_t>(execution)];
  const Shard shard = with_extra_rows(plan.shard, extra_rows(plan, rows));
  const Bytes extra = extra_saved(block, keep_rule(block, plan.shard, replay), plan.shard, shard);
  const auto profile_of = [&](const BlockProgram& program, Bytes saved) {
    const MemoryProfile profile = memory_profile(program, BackwardForm::split, saved, Bytes(0));
    return splits ? profile : profile.of_whole_backward();
  };
  check(plan.sizes.blocks.size() == plan.replays.size(), "what is routed has the programs of its blocks");
  const BlockProgram& balanced = *plan.sizes.blocks[static_cast<std::size_t>(execution)];
  const MemoryProfile from = profile_of(balanced, Bytes(0));
  const MemoryProfile to = profile_of(BlockLowering(block, shard).in_sizes(balanced), extra);
  segment.memory.exchange(from, to);
  if (segment.leaves() == Bytes(0)) return;
  segment.offloaded += to.dropped() - from.dropped();
  segment.offloaded_for_weight += to.kept_for_weight - from.kept_for_weight;
}

/// The program of a stage if every micro-batch had the rows of one of them.
RankProgram program_of(const BalancedPlan& plan, std::int32_t stage, const RoutedStep& rows, std::int32_t micro_batch) {
  LoweringInput sizes = plan.sizes;
  const bool splits = splits_backwards(sizes.schedule.ranks[static_cast<std::size_t>(stage)]);
  for (ChunkSizes& chunk : sizes.ranks[static_cast<std::size_t>(stage)].chunks)
    for (SegmentSizes& segment : chunk.segments) {
      const auto found = rows.find({segment.executions.first, micro_batch});
      if (found != rows.end()) route(segment, plan, found->second, splits);
    }
  return std::move(lower(sizes).ranks[static_cast<std::size_t>(stage)]);
}

bool is_of_segment(const Buffer& buffer) { return buffer.lifetime == Lifetime::step && buffer.segment >= 0; }

}  // namespace

RankProgram routed_program(const BalancedPlan& plan, std::int32_t stage, const RoutedStep& rows) {
  std::vector<RankProgram> by_micro_batch;
  for (std::int32_t m = 0; m < plan.sizes.schedule.shape.micro_batches; ++m)
    by_micro_batch.push_back(program_of(plan, stage, rows, m));
  RankProgram program = by_micro_batch.front();
  // A slot that all micro-batches use in turn becomes one for each of them.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> own;
  for (const Action& action : program.actions) {
    if (action.micro_batch < 0) continue;
    const RankProgram& like = by_micro_batch[static_cast<std::size_t>(action.micro_batch)];
    check(like.uses.size() == program.uses.size(), "rows change how large buffers are, not which there are");
    for (std::int32_t u = action.first_use; u < action.first_use + action.uses; ++u) {
      BufferUse& use = program.uses[static_cast<std::size_t>(u)];
      const Buffer& buffer = like.buffers[static_cast<std::size_t>(like.uses[static_cast<std::size_t>(u)].buffer)];
      if (!is_of_segment(buffer)) continue;
      const auto [place, is_new] =
          own.try_emplace({use.buffer, action.micro_batch}, static_cast<std::int32_t>(program.buffers.size()));
      if (is_new) program.buffers.push_back(buffer);
      use.buffer = place->second;
    }
  }
  return program;
}

Bytes exchanged_bytes(const BalancedPlan& plan, const RoutedStep& rows, std::int64_t steps) {
  Bytes exchanged(0);
  Bytes gathered(0);
  Bytes scattered(0);
  for (const auto& [place, moved] : rows) {
    const Block& block = block_of(plan, place.first);
    const KeepRule rule = keep_rule(block, plan.shard, plan.replays[static_cast<std::size_t>(place.first)]);
    for (const OpId id : block.execution_order()) {
      const Op& op = block.op(id);
      if (!permutes_tokens(op.kind)) continue;
      const bool dispatches = op.kind == OpKind::dispatch;
      const Tensor& routed = block.tensor(dispatches ? op.outputs.front() : op.inputs.front());
      const Bytes row = local_bytes(routed, plan.shard) / local_rows(routed, plan.shard);
      const std::int64_t forwards = rule.replays[static_cast<std::size_t>(id.index())] ? 2 : 1;
      const std::int64_t backwards =
          block.carries_gradient()[static_cast<std::size_t>(op.inputs.front().index())] ? 1 : 0;
      // Rows are gathered on their way to experts and summed on their way back.
      const std::int64_t to_experts = dispatches ? forwards : backwards;
      const std::int64_t to_tokens = dispatches ? backwards : forwards;
      exchanged += row * (to_experts * moved.left + to_tokens * moved.came);
      gathered += row * (to_experts * moved.given);
      scattered += row * (to_tokens * moved.gathered);
    }
  }
  return exchanged / steps + gathered / steps + scattered / steps;
}

Bytes copied_bytes(const BalancedPlan& plan, std::int32_t stage, const RankProgram& program, const RoutedStep& rows,
                   std::int64_t steps) {
  const RankSizes& sizes = plan.sizes.ranks[static_cast<std::size_t>(stage)];
  std::map<CopyTo, Bytes> sums;
  for (const Action& action : program.actions) {
    const auto* copy = std::get_if<HostCopy>(&action.what);
    if (copy == nullptr) continue;
    Bytes& sum = sums[copy->to];
    sum += copy->bytes * steps;
    if (copy->is_of_states()) continue;
    const SegmentSizes& segment =
        sizes.chunks[static_cast<std::size_t>(action.chunk)].segments[static_cast<std::size_t>(copy->segment)];
    const auto found = rows.find({segment.executions.first, action.micro_batch});
    // Rows of all steps, so that fewer came than left may be more than a step has: bytes go by the row.
    if (segment.leaves() > Bytes(0) && found != rows.end())
      sum += extra_rows(plan, found->second) * saved_of_row(plan, found->first.first);
  }
  Bytes of_step(0);
  for (const auto& [to, sum] : sums) of_step += sum / steps;
  return of_step;
}

}  // namespace plumbline
