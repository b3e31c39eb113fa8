#include "planner/checkpointing/placement.h"

#include <algorithm>
#include <cmath>

#include "core/cost/autocast.h"
#include "core/cost/stack_shard.h"
#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"
#include "core/sharding/saved_tensors.h"
#include "planner/checkpointing/block_frontier.h"

namespace plumbline {
namespace {

/// Blocks with more undominated partial choices offer their frontier, or if that has too many its convex corners: the
/// layers of a stage mix corners, so what is lost is at most one layer's step from corner to corner.
constexpr std::size_t most_choices = 512;

/// A placement may take this part of its rank's time for a micro-batch longer than the best one: far below what any
/// price is certain to.
constexpr std::int64_t tolerated_parts_of_pass = 2'000;

std::vector<RecomputeChoice> choices_of(const RecomputeProblem& problem) {
  for (const Restored restored : {Restored::counted, Restored::ignored})
    if (auto choices = block_choices_up_to(problem, restored, most_choices)) return std::move(*choices);
  return frontier_hull(problem);
}

VariantSizes sizes_of(const RecomputeChoice& choice, const Block& block, const Shard& shard) {
  VariantSizes variant;
  variant.memory.saved = choice.saved;
  variant.restored = choice.restored;
  variant.replayed = choice.replayed;
  for (std::size_t o = 0; o < choice.replayed.size(); ++o)
    if (choice.replayed[o]) variant.flops += op_work(block, block.op(block.execution_order()[o]), shard).forward;
  return variant;
}

VariantTimes times_of(const RecomputeChoice& choice, const RecomputeProblem& problem) {
  VariantTimes variant;
  for (std::size_t o = 0; o < choice.replayed.size(); ++o) {
    if (!choice.replayed[o]) continue;
    const RecomputeOp& op = problem.ops[o];
    variant.host += op.host;
    const double scaled = op.phase.total() > Picoseconds(0) ? op.time / op.phase.total() : 0;
    for (Picoseconds PhaseTime::*part :
         {&PhaseTime::tensor_parallel, &PhaseTime::context_parallel, &PhaseTime::expert_parallel})
      variant.recompute.*part += Picoseconds(std::llround(scaled * static_cast<double>((op.phase.*part).value())));
  }
  variant.recompute.compute = choice.time - variant.recompute.total();
  return variant;
}

/// Of one entry of the costs of blocks.
struct PricedSite {
  const Block* block;
  const BlockPricer* pricer;
};
PricedSite priced_site(const Question& question, std::size_t cost) {
  const std::size_t blocks = question.graph().blocks().size();
  return {&question.graph().blocks()[cost % blocks], &question.block_pricer(static_cast<std::int32_t>(cost / blocks))};
}

/// The most for which `holds`, which is so from 0 bytes up to some size; in few steps where that is near `likely`.
template <class Holds>
Bytes most_held(const Holds& holds, Bytes likely) {
  Bytes low = likely;
  Bytes high = likely + Bytes(1);
  for (Bytes step(1); low > Bytes(0) && !holds(low); step = std::int64_t{2} * step) {
    high = low;
    low = std::max(Bytes(0), low - step);
  }
  for (Bytes step(1); high > likely && holds(high); step = std::int64_t{2} * step) {
    low = high;
    high += step;
  }
  while (high - low > Bytes(1)) {
    const Bytes middle = low + (high - low) / std::int64_t{2};
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

Bytes needed_by_least_kept(std::span<const LayerGroup> groups, std::int64_t in_flight) {
  Bytes saved(0);
  Bytes restored(0);
  for (const LayerGroup& group : groups) {
    const auto least =
        std::min_element(group.options.begin(), group.options.end(), [](const LayerOption& a, const LayerOption& b) {
          return a.saved != b.saved ? a.saved < b.saved : a.restored < b.restored;
        });
    saved += group.count * least->saved;
    restored = std::max(restored, least->restored);
  }
  return in_flight * saved + restored;
}

}  // namespace

void add_choices(std::vector<BlockCost>& blocks, const Question& question, const Strategy& strategy) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const PricedSite at = priced_site(question, b);
    const Block block = as_run(*at.block, shard, question.calibration().stack.features);
    if (block.kind() != BlockKind::layer) {
      blocks[b].add_variant(VariantSizes(blocks[b].variant(Variant::kept)), {});
      continue;
    }
    const RecomputeProblem problem = recompute_problem(block, shard, groups, *at.pricer);
    for (const RecomputeChoice& choice : choices_of(problem)) {
      VariantSizes sizes = sizes_of(choice, block, shard);
      sizes.memory.logits = blocks[b].memory().logits;
      blocks[b].add_variant(std::move(sizes), times_of(choice, problem));
    }
  }
}

Bytes least_kept(const Block& block, const Question& question, const Strategy& strategy) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  std::vector<bool> counted(block.tensors().size(), false);
  Bytes kept(0);
  const Block run = as_run(block, shard, question.calibration().stack.features);
  for (const SavedTensor& saved : saved_tensors(run, shard)) {
    if (!saved.tensor.is_valid() || block.producer(saved.tensor).is_valid()) continue;
    if (saved.kind == SavedKind::gathered) {
      kept += saved.bytes;
      continue;
    }
    const Tensor& tensor = run.tensor(saved.tensor);
    const auto index = static_cast<std::size_t>(saved.tensor.index());
    if (tensor.role == TensorRole::parameter || tensor.element == ElementKind::index || counted[index]) continue;
    counted[index] = true;
    kept += local_bytes(tensor, shard);
  }
  return kept;
}

void add_choices_working(std::vector<BlockCost>& blocks, const Question& question, const Strategy& strategy,
                         KnownPrograms* known) {
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const BlockGroups groups = block_groups(strategy);
  const BackwardForm form = splits_backward(strategy.schedule) ? BackwardForm::split : BackwardForm::whole;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const PricedSite at = priced_site(question, b);
    if (at.block->kind() != BlockKind::layer) continue;
    std::optional<Block> cast;
    if (casts_itself(question.calibration().stack.features, shard.formats)) cast = with_32_bit_residuals(*at.block);
    const LoweringTarget target = at.pricer->target();
    const LoweredBlock of =
        cast ? LoweredBlock{*cast, shard, groups, target} : LoweredBlock{*at.block, shard, groups, target, known};
    std::vector<VariantSizes>& variants = blocks[b].variants;
    for (std::size_t v = Variant::first_placed; v < variants.size(); ++v)
      fold_replay(variants[v], of, RecomputeMode::placed, blocks[b].memory(), form);
  }
}

RecomputePlacer::RecomputePlacer(const Question& question, const Strategy& strategy, const RankLayersTable& groups)
    : question_(&question), strategy_(strategy), groups_(&groups) {}

RecomputePlacer::RecomputePlacer(const Question& question, const Strategy& strategy,
                                 const std::vector<BlockCost>& blocks)
    : question_(&question),
      strategy_(strategy),
      own_groups_(std::make_unique<const RankLayersTable>(blocks)),
      groups_(own_groups_.get()) {}

Bytes RecomputePlacer::budget(const StageCost& stage, std::int32_t rank, Bytes capacity) const {
  StageCost loaded = stage;
  loaded.memory.saved = Bytes(0);
  const auto holds = [&](Bytes held) {
    loaded.memory.working.backward = held;
    return total(loaded, rank) <= capacity;
  };
  if (!holds(Bytes(0))) return Bytes(-1);
  // The allocator's loss is a part of what is held, rounded down: the largest load that fits is near the quotient.
  // A forward pass that fits sets no limit to what a backward holds, nor does what is packed or gathered once a step:
  // what Muon gathers makes this guess gigabytes too small.
  StageCost bare = loaded;
  bare.memory.working = {};
  bare.parameters.partial_trained = 0;
  const Bytes free = capacity - total(bare, rank);
  const double part = 1 + question_->calibration().stack.memory.fragmentation_fraction;
  const Bytes likely(static_cast<std::int64_t>(static_cast<double>(std::max(free, Bytes(0)).value()) / part));
  return most_held(holds, likely);
}

Bytes RecomputePlacer::total(const StageCost& stage, std::int32_t rank) const {
  return stage_memory(stage, strategy_, question_->training().formats(), question_->training().optimizer,
                      question_->calibration().stack, rank)
      .device_total();
}

bool RecomputePlacer::holds_all(const StageCost& kept, std::int32_t rank, Bytes capacity) const {
  return total(kept, rank) <= capacity;
}

std::array<Bytes, 2> RecomputePlacer::device_capacities(std::int32_t site) const {
  return {question_->certain_capacity(site), question_->capacity(site)};
}

Bytes RecomputePlacer::room(const StageCost& kept, std::int32_t rank, const RankLayers& groups,
                            std::span<const Bytes> capacities) const {
  const std::int64_t in_flight = chunks_in_flight(strategy_, rank);
  // What keeps least nearly always fits; only where it does not is every cap on what is restored tried.
  Bytes needed = needed_by_least_kept(groups.groups(), in_flight);
  bool is_exact = false;
  for (const Bytes capacity : capacities) {
    const Bytes available = budget(kept, rank, capacity);
    if (available < Bytes(0)) continue;
    const Bytes room = std::int64_t{strategy_.virtual_stages} * available;
    if (needed > room && !is_exact) {
      const LayerChoice& least = groups.smallest(in_flight);
      needed = in_flight * least.saved + least.restored;
      is_exact = true;
    }
    if (needed <= room) return available;
  }
  return Bytes(-1);
}

const RankLayers& RecomputePlacer::groups_of(std::span<const RankContent> chunks) const {
  return groups_->of(chunks, strategy_.virtual_stages);
}

RankPlacement RecomputePlacer::read(const LayerChoice& choice, const RankLayers& groups) {
  RankPlacement placement;
  placement.time = choice.time;
  for (const std::size_t content : groups.content_of_chunk()) {
    std::vector<VariantCount>& counts = placement.chunks.emplace_back();
    for (std::size_t g = 0; g < groups.members().size(); ++g) {
      if (groups.members()[g].content != content) continue;
      for (std::size_t o = 0; o < choice.layers[g].size(); ++o)
        if (choice.layers[g][o] > 0)
          counts.push_back({groups.members()[g].block, Variant::first_placed + static_cast<std::int32_t>(o),
                            static_cast<std::int32_t>(choice.layers[g][o])});
    }
  }
  return placement;
}

std::optional<RankPlacement> RecomputePlacer::place(std::span<const RankContent> chunks, const StageCost& kept,
                                                    std::int32_t rank) const {
  return place_in(device_capacities(kept.site), chunks, kept, rank);
}

std::optional<RankPlacement> RecomputePlacer::place_within(Bytes capacity, std::span<const RankContent> chunks,
                                                           const StageCost& kept, std::int32_t rank) const {
  return place_in({&capacity, 1}, chunks, kept, rank);
}

std::optional<RankPlacement> RecomputePlacer::place_in(std::span<const Bytes> capacities,
                                                       std::span<const RankContent> chunks, const StageCost& kept,
                                                       std::int32_t rank) const {
  if (holds_all(kept, rank, capacities.front())) {
    RankPlacement all;
    for (const RankContent& chunk : chunks) {
      std::vector<VariantCount>& counts = all.chunks.emplace_back();
      for (std::size_t b = 0; b < chunk.executions.size(); ++b)
        if (chunk.executions[b] > 0)
          counts.push_back({static_cast<std::int32_t>(b), Variant::kept, chunk.executions[b]});
    }
    return all;
  }
  const RankLayers& groups = groups_of(chunks);
  const Bytes available = room(kept, rank, groups, capacities);
  if (available < Bytes(0)) return std::nullopt;
  const auto choice =
      groups.chooser().choose(chunks_in_flight(strategy_, rank), std::int64_t{strategy_.virtual_stages} * available,
                              (kept.forward_total() + kept.backward_total()) / tolerated_parts_of_pass);
  if (!choice) return std::nullopt;
  return read(*choice, groups);
}

/// Which is priced as a whole, not as a choice of operators.
Picoseconds RecomputePlacer::replayed_by_operator(std::span<const RankContent> chunks) const {
  Picoseconds sum(0);
  for (const RankContent& chunk : chunks)
    for (std::size_t b = 0; b < chunk.executions.size(); ++b)
      if (priced_site(*question_, b).block->kind() == BlockKind::layer)
        sum += chunk.executions[b] * blocks()[b].times(Variant::by_operator).recompute.total();
  return sum;
}

std::optional<Picoseconds> RecomputePlacer::least_replay(Bytes capacity, std::span<const RankContent> chunks,
                                                         const StageCost& kept, std::int32_t rank,
                                                         Restored restored) const {
  if (holds_all(kept, rank, capacity)) return Picoseconds(0);
  const RankLayers& groups = groups_of(chunks);
  const Bytes available = room(kept, rank, groups, {&capacity, 1});
  if (available < Bytes(0)) return std::nullopt;
  const std::int64_t in_flight = chunks_in_flight(strategy_, rank);
  const Bytes budget = std::int64_t{strategy_.virtual_stages} * available;
  const auto least = restored == Restored::counted ? groups.chooser().least_capped_replay(in_flight, budget)
                                                   : groups.chooser().least_replay(in_flight, budget);
  if (!least) return std::nullopt;
  return std::min(*least, replayed_by_operator(chunks));
}

RankPlacement RecomputePlacer::smallest(std::span<const RankContent> chunks, std::int32_t rank) const {
  const RankLayers& groups = groups_of(chunks);
  return read(groups.smallest(chunks_in_flight(strategy_, rank)), groups);
}

std::vector<RankContent> RecomputePlacer::chunks_of(const StageLayout& layout, std::int32_t rank) const {
  std::vector<RankContent> contents;
  for (std::int32_t c = 0; c < strategy_.virtual_stages; ++c) {
    const std::int32_t stage = stage_of(placement(strategy_.schedule), strategy_.pipeline_stages, rank, c);
    contents.push_back(layout.stage(static_cast<std::size_t>(stage)));
  }
  return contents;
}

}  // namespace plumbline
