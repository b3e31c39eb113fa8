#include "core/cost/step_time.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/cost/chunk_times.h"
#include "core/cost/host_checkpoints.h"
#include "core/cost/once_per_step.h"
#include "core/cost/optimizer_time.h"
#include "core/cost/overlap.h"
#include "core/cost/stage_memory.h"
#include "core/cost/step_work.h"
#include "core/cost/time_limits.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

std::size_t stage_index(const Strategy& s, std::size_t rank, std::int32_t chunk) {
  return static_cast<std::size_t>(
      stage_of(placement(s.schedule), s.pipeline_stages, static_cast<std::int32_t>(rank), chunk));
}

/// What the chunks of a rank do besides their kernels, per micro-batch.
struct Besides {
  Picoseconds accumulation{0};
  Picoseconds copying{0};
  Picoseconds sharding{0};
  Picoseconds hidden_by_replay{0};  ///< at most: of sharding, what backwards leave exposed
  Picoseconds waiting{0};           ///< for the host: chunk by chunk, as they are simulated
};

Besides besides_of(std::size_t rank, const std::vector<RankTimes>& times, const StageTable& stages, const Strategy& s) {
  Besides sum;
  for (std::int32_t chunk = 0; chunk < s.virtual_stages; ++chunk) {
    const std::size_t index = stage_index(s, rank, chunk);
    const RankTimes& of_chunk = times[index];
    sum.waiting += stages.stage(index).forward_wait() + stages.stage(index).backward_wait();
    sum.accumulation += of_chunk.accumulation;
    sum.copying += std::int64_t{2} * of_chunk.copying;
    sum.sharding += of_chunk.sharding();
    sum.hidden_by_replay += of_chunk.gather_backward + of_chunk.scatter;
  }
  return sum;
}

/// What the chunks of a rank take per micro-batch, one by one: whether the host waits is each chunk's own.
struct Passes {
  Picoseconds forward{0};
  Picoseconds backward{0};
};

Passes passes_of(std::size_t rank, const StageTable& stages, const Strategy& s) {
  Passes sum;
  for (std::int32_t chunk = 0; chunk < s.virtual_stages; ++chunk) {
    const StageCost& stage = stages.stage(stage_index(s, rank, chunk));
    add_phase(sum.forward, stage.forward_total());
    add_phase(sum.backward, stage.backward_total());
  }
  return sum;
}

/// Whether a rank holds what the one before it holds, chunk by chunk.
bool is_like_the_one_before(std::size_t rank, const StageLayout& layout, const Strategy& s) {
  if (layout.of_rank[rank] != layout.of_rank[rank - 1]) return false;
  if (layout.of_stage.empty()) return true;
  for (std::int32_t chunk = 0; chunk < s.virtual_stages; ++chunk)
    if (layout.of_stage[stage_index(s, rank, chunk)] != layout.of_stage[stage_index(s, rank - 1, chunk)]) return false;
  return true;
}

/// Whether some stage's device waits for its host.
bool has_waits(const StageTable& stages, const Strategy& s) {
  for (std::int32_t i = 0; i < s.chunks(); ++i) {
    const StageCost& stage = stages.stage(static_cast<std::size_t>(i));
    if (stage.forward_wait() + stage.backward_wait() > Picoseconds(0)) return true;
  }
  return false;
}

}  // namespace

/// What `price` and `total` simulate.
struct StepPricer::Terms {
  std::vector<SharingTimes> shared;  ///< by distinct content of the ranks
  std::vector<RankTimes> times;      ///< of all stages
  std::vector<StageLink> links;      ///< by pipeline rank
  Picoseconds slowest_optimizer{0};
};

StepPricer::StepPricer(const BlockPricer& blocks, const Training& training)
    : StepPricer(std::vector<BlockPricer>{blocks}, training) {}

StepPricer::StepPricer(std::vector<BlockPricer> sites, const Training& training)
    : sites_(std::move(sites)), training_(training), formats_(training.formats()) {}

Picoseconds StepPricer::scaled(Seconds time) const {
  return phase_time(sites_.whole().kernels().calibration().stack.compute.step_factor * time);
}

RankTimes StepPricer::rank_times(const StageCost& rank, const Strategy& s) const {
  return stage_times(rank, rank, sharing_times(rank, s), s);
}

namespace {

/// By which each of a micro-batch's two passes is late where the host works on every sharded tensor in each of them,
/// and once more in a recomputed forward.
Picoseconds waited_for_tensors(const StageCost& stage, double host_time_per_tensor) {
  const std::int64_t passes = stage.recompute.total() > Picoseconds(0) ? 3 : 2;
  const auto times = static_cast<double>(passes * stage.tensors.gathered);
  const Picoseconds host = stage.host_forward + stage.host_backward + phase_time(Seconds(times * host_time_per_tensor));
  const Picoseconds device = stage.forward_total() + stage.backward_total();
  return std::max(Picoseconds(0), host - device) / std::int64_t{2};
}

}  // namespace

void StepPricer::add_state_traffic(RankTimes& times, const StageCost& stage, const StageCost& rank,
                                   const Strategy& s) const {
  const KernelClock& kernels = sites_[stage.site].kernels();
  const StackCalibration& stack = kernels.calibration().stack;
  const std::int64_t trained = stage.parameters.trained_on(rank.parameters);
  const auto moved = [&](double bytes, std::int64_t parameters) {
    return scaled(kernels.stream(bytes * static_cast<double>(parameters)));
  };
  if (s.micro_batches > 1) times.accumulation = moved(stack.optimizer.accumulation_bytes, trained);
  if (shard_ranks(s).dense == 1) return;
  if (s.zero_stage >= 2)
    (keeps_gradients(s, stack.features) ? times.scattered_once : times.accumulation) +=
        moved(stack.sharding.scatter_copy_bytes, trained);
  if (s.zero_stage >= 3)
    times.copying = moved(stack.sharding.gather_copy_bytes, stage.parameters.total_on(rank.parameters)) +
                    waited_for_tensors(stage, stack.sharding.host_time_per_tensor_s);
}

RankTimes StepPricer::stage_times(const StageCost& stage, const StageCost& rank, const SharingTimes& of_rank,
                                  const Strategy& s) const {
  const StackCalibration& stack = sites_.whole().kernels().calibration().stack;
  RankTimes times;
  add_state_traffic(times, stage, rank, s);
  // Copies to the host follow the compute, and what shares states runs alongside that.
  times.forward = stage.forward_total() - stage.copies.forward + times.copying;
  times.backward = stage.backward_total() - stage.copies.backward + times.copying + times.accumulation;
  const Picoseconds weight = stage.backward_weight_total() + times.accumulation;
  SharingTimes shared = sharing_of_stage(of_rank, stage, rank);
  if (keeps_gradients(s, stack.features)) shared.scatter = Picoseconds(0);  // of micro-batches
  const Picoseconds first = first_units(shared.gather, stage, s.prefetch);
  const Picoseconds again = gathered_for_backward(shared);
  const Picoseconds first_again = first_units(again, stage, s.prefetch);
  const Picoseconds last = last_units(shared.scatter, of_rank.scatter, stage, reduction_rule(rank, s));
  const auto excess = [&](Picoseconds compute, Picoseconds alone, Picoseconds overlapped_with) {
    return alone + overlapped(compute, overlapped_with, stack.communication.overlap_slowdown).end - compute;
  };
  times.gather_forward = excess(times.forward, first, shared.gather - first);
  // Parameters are needed for the gradients of inputs; gradients of parameters are reduced alongside their making.
  const Picoseconds input_waits = excess(times.backward - weight, first_again, again - first_again);
  const Picoseconds weight_waits = excess(weight, last, shared.scatter - last);
  times.backward_input = times.backward - weight + input_waits;
  times.backward_weight = weight + weight_waits;
  times.scatter = excess(times.backward, first_again + last, again + shared.scatter - first_again - last);
  times.gather_backward = part(times.scatter, again / std::max(Picoseconds(1), again + shared.scatter));
  times.scatter -= times.gather_backward;
  times.forward += times.gather_forward;
  times.backward += times.gather_backward + times.scatter;
  if (splits_every_backward(s.schedule)) {
    times.gather_backward = input_waits;
    times.scatter = weight_waits;
    times.backward = times.backward_input + times.backward_weight;
  }
  times.forward += stage.copies.forward;
  times.backward += stage.copies.backward;
  times.backward_input += stage.copies.backward;
  return times;
}

bool StepPricer::steps_early(const StageTable& stages, const Strategy& s) const {
  return sites_.whole().kernels().calibration().stack.features.update_check == UpdateCheck::after_update &&
         splits_every_backward(s.schedule) && tied_bytes(stages, s).value() == 0;
}

Picoseconds StepPricer::reduced(const StageTable& stages, const std::vector<RankTimes>& times,
                                const std::vector<SharingTimes>& shared, ChunkTimes& chunks, const Strategy& s,
                                Sweep sweep) const {
  const StackCalibration& stack = sites_.whole().kernels().calibration().stack;
  std::vector<Picoseconds> after;
  std::vector<StageShare> parts;
  OncePerStep once;
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const SharingTimes& of_rank = shared[static_cast<std::size_t>(stages.layout().of_rank[rank])];
    if (rank == 0 || !is_like_the_one_before(rank, stages.layout(), s)) {
      parts.clear();
      for (std::int32_t chunk = 0; chunk < s.virtual_stages; ++chunk) {
        const std::size_t stage = stage_index(s, rank, chunk);
        parts.push_back(
            {&stages.stage(stage), &times[stage], sharing_of_stage(of_rank, stages.stage(stage), stages[rank])});
      }
      once = once_per_step(parts, {of_rank, reduction_rule(stages[rank], s), stack.communication.overlap_slowdown,
                                   splits_backward(s.schedule), s.prefetch, s.zero_stage >= 2, s.pipeline_stages > 1,
                                   keeps_gradients(s, stack.features), update_gathers(stack.features)});
    }
    chunks.add_once(rank, once.start, once.of_chunk);
    after.push_back(once.after);
  }
  chunks.set_contention(stack.communication.overlap_slowdown,
                        reduces_over_network(sites_.whole().communication().cluster(), s), s.zero_stage >= 3);
  const auto ends_of = sweep == Sweep::whole ? &pipeline_ends : &least_ends;
  const std::vector<Picoseconds> ends = ends_of(s.schedule, chunks.times(), s.micro_batches, s.virtual_stages);
  Picoseconds latest(0);
  for (std::size_t rank = 0; rank < ends.size(); ++rank) latest = std::max(latest, ends[rank] + after[rank]);
  return latest + tied_reduction(stages, s);
}

Picoseconds StepPricer::optimizer(const StageCost& stage, const Strategy& s) const {
  return scaled(optimizer_time(sites_[stage.site].kernels(), training_, stage, s)) +
         phase_time(matrix_gather_time(stage, s));
}

Picoseconds StepPricer::copy_to_host(Bytes bytes, std::int32_t site) const {
  return phase_time(copy_time(bytes, sites_[site].to_host()));
}

Picoseconds StepPricer::overhead() const {
  const HostEfficiency& host = sites_.whole().kernels().calibration().stack.host;
  const double ranks = static_cast<double>(device_count(sites_.whole().communication().cluster()));
  return phase_time(Seconds(host.step_overhead_s + host.rank_delay_s * std::log(ranks)));
}

StepPricer::Terms StepPricer::terms(const StageTable& stages, const Strategy& s) const {
  Terms terms;
  for (const StageCost& stage : stages.distinct()) {
    terms.shared.push_back(sharing_times(stage, s));
    terms.slowest_optimizer = std::max(terms.slowest_optimizer, optimizer(stage, s));
  }
  const StageLayout& layout = stages.layout();
  // Equal stages of equal ranks once.
  const std::size_t kinds = std::max(layout.distinct_stages.size(), layout.distinct.size());
  std::vector<std::optional<RankTimes>> known(kinds * layout.distinct.size());
  for (std::int32_t i = 0; i < s.chunks(); ++i) {
    const auto rank = static_cast<std::size_t>(rank_of_stage(placement(s.schedule), s.pipeline_stages, i));
    const auto content = static_cast<std::size_t>(layout.of_rank[rank]);
    const auto stage = static_cast<std::size_t>(i);
    const std::size_t kind = layout.of_stage.empty() ? content : static_cast<std::size_t>(layout.of_stage[stage]);
    std::optional<RankTimes>& entry = known[content * kinds + kind];
    if (!entry) entry = stage_times(stages.stage(stage), stages[rank], terms.shared[content], s);
    terms.times.push_back(*entry);
  }
  terms.links = links(stages, s);
  return terms;
}

/// The causes of `price` sum to when gradients are reduced, the optimizer and the overhead.
Picoseconds StepPricer::total(const StageTable& stages, const Strategy& s, Sweep sweep,
                              std::span<const Picoseconds> replay) const {
  const Terms terms = this->terms(stages, s);
  if (has_too_much_work(terms.times, terms.links, terms.shared, s)) return longer_than_any().total();
  ChunkTimes chunks(terms.times, terms.links, s);
  if (steps_early(stages, s)) chunks.count_from_own_begin();
  std::vector<Picoseconds> beyond(replay.begin(), replay.end());
  for (std::size_t rank = 0; rank < beyond.size() && s.zero_stage > 1; ++rank) {
    const Picoseconds hidden = besides_of(rank, terms.times, stages, s).hidden_by_replay;
    // The last backward, alongside which more is reduced, may hide all of its replay.
    beyond[rank] = (s.micro_batches - 1) * std::max(Picoseconds(0), beyond[rank] - hidden) / s.micro_batches;
  }
  if (!beyond.empty() && !has_waits(stages, s)) chunks.set_replay(beyond);
  return reduced(stages, terms.times, terms.shared, chunks, s, sweep) + terms.slowest_optimizer + overhead();
}

StepTime StepPricer::price(const StageTable& stages, const Strategy& s) const {
  const Terms terms = this->terms(stages, s);
  const std::vector<SharingTimes>& shared = terms.shared;
  const std::vector<RankTimes>& times = terms.times;
  if (has_too_much_work(times, terms.links, shared, s)) return longer_than_any();
  // The busiest rank by its own work, as the simulator says it: data parallelism slows ranks that do the same
  // differently.
  const auto work = [&](std::size_t rank) {
    const Besides besides = besides_of(rank, times, stages, s);
    return stages[rank].forward.total() + stages[rank].backward.total() + stages[rank].recompute.total() +
           stages[rank].copies.total() + besides.waiting + besides.accumulation + besides.copying;
  };
  std::size_t busiest = 0;
  Picoseconds most = work(0);
  for (std::size_t rank = 1; rank < stages.size(); ++rank) {
    const Picoseconds own = work(rank);
    if (own > most) busiest = rank, most = own;
  }
  const Besides besides = besides_of(busiest, times, stages, s);
  ChunkTimes chunks(times, terms.links, s);
  if (steps_early(stages, s)) chunks.count_from_own_begin();
  const std::vector<Picoseconds> ends = pipeline_ends(s.schedule, chunks.times(), s.micro_batches, s.virtual_stages);
  const Picoseconds makespan = *std::max_element(ends.begin(), ends.end());
  const StageCost& stage = stages[busiest];
  const std::int64_t m = s.micro_batches;
  const auto both = [&](Picoseconds PhaseTime::*part) { return m * (stage.forward.*part + stage.backward.*part); };
  StepTime result;
  TimeBreakdown& time = result.breakdown;
  time[TimeCause::compute] = both(&PhaseTime::compute) + m * (besides.accumulation + besides.copying + besides.waiting);
  time[TimeCause::recompute] = m * stage.recompute.total();
  time[TimeCause::offload] = m * stage.copies.total();
  time[TimeCause::tensor_parallel] = both(&PhaseTime::tensor_parallel);
  time[TimeCause::context_parallel] = both(&PhaseTime::context_parallel);
  time[TimeCause::expert_parallel] = both(&PhaseTime::expert_parallel);
  time[TimeCause::data_parallel] = m * besides.sharding;
  // What remains of the makespan is waiting: for the pipeline to fill and drain, for neighbours, for transfers.
  time[TimeCause::pipeline_bubble] = makespan - time.total();
  time[TimeCause::data_parallel] += reduced(stages, times, shared, chunks, s, Sweep::whole) - makespan;
  // What the last micro-batch does not wait for on every rank of a deep pipeline may be more than the busiest rank
  // waits in all: the others' part of it shortens the bubble.
  const Picoseconds of_others = std::min(Picoseconds(0), time[TimeCause::data_parallel]);
  time[TimeCause::data_parallel] -= of_others;
  time[TimeCause::pipeline_bubble] += of_others;
  time[TimeCause::optimizer] = terms.slowest_optimizer;
  time[TimeCause::step_overhead] = overhead();
  return result;
}

Picoseconds StepPricer::lower_bound(const StageTable& stages, const Strategy& s) const {
  Picoseconds bound(0);
  Picoseconds before(0);  // the first chunks of the ranks before: nothing begins here earlier, nor ends later
  Picoseconds slowest_forward(0);
  Picoseconds slowest_backward(0);
  const bool fills = !steps_early(stages, s);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const auto [forward, backward] = passes_of(rank, stages, s);
    bound = std::max(bound, before + repeated(forward + backward, s.micro_batches, most_work));
    if (!fills) continue;
    const StageCost& first = stages.stage(rank);
    const bool is_whole = s.virtual_stages == 1;
    // Ranks that split the backward may end with weight gradients: only the fill is certain.
    Picoseconds drained(0);
    if (!splits_backward(s.schedule)) drained = is_whole ? backward : first.backward_total();
    before = std::min(before + (is_whole ? forward : first.forward_total()) + drained, most_work);
    slowest_forward = std::max(slowest_forward, forward);
    slowest_backward = std::max(slowest_backward, backward);
  }
  if (record_of(s.schedule).passes == PassOrder::forwards_first)
    bound = before + repeated(slowest_forward + slowest_backward, s.micro_batches - 1, most_work);
  return std::min(bound + overhead(), most_work);
}

}  // namespace plumbline
