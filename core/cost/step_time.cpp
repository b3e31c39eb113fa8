#include "core/cost/step_time.h"

#include <algorithm>
#include <cmath>

#include "core/cost/pipeline_time.h"
#include "core/cost/stage_memory.h"
#include "core/plan/pipeline_schedule.h"

namespace plumbline {
namespace {

/// (a^p + b^p)^(1/p): b hides behind a the better the larger p is.
Seconds overlapped(Seconds a, Seconds b, double p) {
  const double larger = std::max(a.value(), b.value());
  if (larger <= 0) return Seconds(0);
  return Seconds(larger * std::pow(std::pow(a.value() / larger, p) + std::pow(b.value() / larger, p), 1 / p));
}

/// Muon orthogonalises each matrix update by Newton-Schulz iterations of three products of an m x m by an m x n matrix
/// (m the shorter side). Source: Jordan et al., "Muon", 2024.
constexpr double muon_iterations = 5;
constexpr double muon_products = 3;
/// Fused query-key-value, attention output, fused gate-up (or up) and down projections of a layer.
constexpr std::int64_t matrices_per_unit = 4;

}  // namespace

/// Parameters that the same ranks hold: those that divide their states, and those that hold another copy.
struct StepPricer::Sharing {
  RankGroup shard;
  RankGroup replicate;
  Axis axis = Axis::gradient;
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
};

/// Dense parameters and experts.
std::array<StepPricer::Sharing, 2> StepPricer::sharings(const RankParameters& p, const Strategy& s) {
  const ShardRanks ranks = shard_ranks(s);
  const auto groups = [](RankGroup all, std::int64_t shard) {
    const auto size = static_cast<std::int32_t>(std::max<std::int64_t>(1, shard));
    return std::pair(RankGroup{size, all.stride}, RankGroup{all.size / size, all.stride * size});
  };
  const auto [shard, replicate] = groups(rank_group(s, Axis::gradient), ranks.dense);
  const auto [expert_shard, expert_replicate] = groups(rank_group(s, Axis::expert_gradient), ranks.expert);
  return {Sharing{shard, replicate, s.zero_stage == 0 ? Axis::gradient : Axis::shard, p.dense.total(),
                  p.dense_trained.total()},
          Sharing{expert_shard, expert_replicate, Axis::expert_gradient, p.expert.total(), p.expert_trained.total()}};
}

StepPricer::StepPricer(const BlockPricer& blocks, const Training& training)
    : blocks_(blocks), training_(training), formats_(training.formats()) {}

Picoseconds StepPricer::scaled(Seconds time) const {
  return to_picoseconds(blocks_.kernels().calibration().stack.step_factor * time);
}

RankTimes StepPricer::rank_times(const StageCost& stage, const Strategy& s) const {
  const StackCalibration& stack = blocks_.kernels().calibration().stack;
  RankTimes times;
  if (s.micro_batches > 1)
    times.accumulation =
        scaled(blocks_.kernels().stream(stack.accumulation_bytes * static_cast<double>(stage.parameters.trained())));
  times.forward = stage.forward_total();
  times.backward = stage.backward_total() + times.accumulation;
  const auto hidden = [&](Picoseconds compute, Seconds communication) {
    return to_picoseconds(overlapped(to_seconds(compute), stack.step_factor * communication, stack.shard_overlap_norm));
  };
  Seconds gather(0);
  Seconds scatter(0);
  for (const Sharing& sharing : sharings(stage.parameters, s)) {
    const auto unit_by_unit = [&](Collective kind, std::int64_t parameters, NumberFormat format) {
      return per_unit(kind, storage(parameters, format), stage.units, sharing.shard);
    };
    if (s.zero_stage >= 3) gather += unit_by_unit(Collective::all_gather, sharing.parameters, formats_.weight);
    if (s.zero_stage >= 2) scatter += unit_by_unit(Collective::reduce_scatter, sharing.trained, formats_.reduction);
  }
  if (s.zero_stage >= 3) times.gather_forward = hidden(times.forward, gather) - times.forward;
  if (s.zero_stage >= 2) times.scatter = hidden(times.backward, gather + scatter) - times.backward;
  if (gather.value() > 0)
    times.gather_backward = Picoseconds(
        std::llround(static_cast<double>(times.scatter.value()) * gather.value() / (gather + scatter).value()));
  times.scatter -= times.gather_backward;
  times.forward += times.gather_forward;
  times.backward += times.gather_backward + times.scatter;
  if (s.pipeline_stages > 1) {
    const RankGroup neighbours{2, rank_group(s, Axis::pipeline).stride};
    times.hop = scaled(stack.pipeline_exposure *
                       blocks_.communication().time(Collective::send_receive, stage.boundary, neighbours));
    // Every virtual stage receives once more per direction, the first rank from the last one too.
    const Picoseconds extra = std::int64_t{s.virtual_stages - 1} * times.hop;
    times.forward += extra;
    times.backward += extra;
  }
  return times;
}

/// Unit by unit, as frameworks gather and reduce.
Seconds StepPricer::per_unit(Collective kind, Bytes bytes, std::int64_t units, RankGroup group) const {
  units = std::max<std::int64_t>(1, units);
  return static_cast<double>(units) * blocks_.communication().time(kind, bytes / units, group);
}

/// Once per step, before overlap.
struct StepPricer::Reduction {
  Seconds gradients{0};  ///< can hide behind the last backward
  Seconds weights{0};    ///< can hide behind the next forward
};

/// All-reduce without ZeRO, reduce-scatter and all-gather with stage 1, the all-gather of updated weights with stage 2;
/// replicas of hybrid shard groups sum their shards.
StepPricer::Reduction StepPricer::reduction(const StageCost& stage, const Strategy& s) const {
  const CommunicationClock& clock = blocks_.communication();
  Reduction time;
  for (const Sharing& sharing : sharings(stage.parameters, s)) {
    const Bytes gradient = storage(sharing.trained, formats_.reduction);
    const Bytes weight = storage(sharing.trained, formats_.weight);
    if (s.zero_stage == 1) time.gradients += clock.time(Collective::reduce_scatter, gradient, sharing.shard);
    if (s.zero_stage == 1 || s.zero_stage == 2)
      time.weights += clock.time(Collective::all_gather, weight, sharing.shard);
    time.gradients +=
        clock.time(Collective::all_reduce, gradient / std::int64_t{sharing.shard.size}, sharing.replicate);
  }
  return time;
}

/// The stack's measured share of the reduction, or what compute cannot hide of it where that is less: a small reduction
/// behind a long backward costs nothing, and gathering for every micro-batch never costs less than once a step.
Picoseconds StepPricer::exposed(const Reduction& reduction, const RankTimes& rank) const {
  const StackCalibration& stack = blocks_.kernels().calibration().stack;
  const auto part = [&](Seconds communication, Picoseconds compute) {
    const Seconds alone = to_seconds(compute);
    const Seconds time = stack.step_factor * communication;
    return std::min(stack.data_parallel_exposure * time, overlapped(alone, time, stack.shard_overlap_norm) - alone);
  };
  return to_picoseconds(part(reduction.gradients, rank.backward) + part(reduction.weights, rank.forward));
}

SharingBytes StepPricer::sharing_bytes(const StageCost& stage, const Strategy& s) const {
  SharingBytes sent;
  for (const Sharing& sharing : sharings(stage.parameters, s)) {
    const auto wire = [&](Collective kind, std::int64_t parameters, NumberFormat format, RankGroup group) {
      return wire_bytes(kind, storage(parameters, format), group.size);
    };
    const Bytes scattered = wire(Collective::reduce_scatter, sharing.trained, formats_.reduction, sharing.shard);
    const Bytes updated = wire(Collective::all_gather, sharing.trained, formats_.weight, sharing.shard);
    if (s.zero_stage >= 3)
      sent.gather += wire(Collective::all_gather, sharing.parameters, formats_.weight, sharing.shard);
    if (s.zero_stage >= 2) sent.scatter += scattered;
    if (s.zero_stage == 1) sent.reduction += scattered;
    if (s.zero_stage == 1 || s.zero_stage == 2) sent.reduction += updated;
    sent.reduction +=
        wire(Collective::all_reduce, sharing.trained / sharing.shard.size, formats_.reduction, sharing.replicate);
  }
  return sent;
}

Picoseconds StepPricer::exposed_reduction(const StageCost& stage, const Strategy& s) const {
  return exposed(reduction(stage, s), rank_times(stage, s));
}

Bytes StepPricer::tied_bytes(const StageTable& stages, const Strategy& s) const {
  const std::int64_t tied = stages[stages.size() - 1].parameters.tied;
  return s.pipeline_stages > 1 ? storage(tied, formats_.reduction) : Bytes(0);
}

/// Both copies of a tied embedding need the sum of both gradients.
Picoseconds StepPricer::tied_reduction(const StageTable& stages, const Strategy& s) const {
  const Bytes bytes = tied_bytes(stages, s);
  if (bytes.value() == 0) return Picoseconds(0);
  const RankGroup ends{2, rank_group(s, Axis::pipeline).stride * (s.pipeline_stages - 1)};
  return scaled(blocks_.kernels().calibration().stack.data_parallel_exposure *
                blocks_.communication().time(Collective::all_reduce, bytes, ends));
}

Picoseconds StepPricer::worst_reduction(const StageTable& stages, const std::vector<RankTimes>& times,
                                        const Strategy& s) const {
  std::vector<Picoseconds> exposed_parts;
  for (std::size_t i = 0; i < times.size(); ++i)
    exposed_parts.push_back(exposed(reduction(stages.distinct()[i], s), times[i]));
  Picoseconds drain(0);  // backward work of earlier ranks, which runs after this rank has finished
  Picoseconds worst(0);
  for (const std::int32_t content : stages.layout().of_rank) {
    const auto i = static_cast<std::size_t>(content);
    worst = std::max(worst, exposed_parts[i] - drain);
    // With a split backward, ranks end nearly together: nothing is left to hide behind.
    if (!splits_backward(s.schedule)) drain += times[i].backward / std::int64_t{s.virtual_stages};
  }
  return worst + tied_reduction(stages, s);
}

Seconds StepPricer::optimizer_time(const StageCost& stage, const Strategy& s) const {
  const KernelClock& kernels = blocks_.kernels();
  const ShardRanks ranks = shard_ranks(s);
  const RankParameters& p = stage.parameters;
  const ParameterSplit updated{
      divided(p.dense_trained.matrix, ranks.dense) + divided(p.expert_trained.matrix, ranks.expert),
      divided(p.dense_trained.other, ranks.dense) + divided(p.expert_trained.other, ranks.expert)};
  const Seconds traffic =
      kernels.stream(kernels.calibration().stack.optimizer_traffic_factor *
                     static_cast<double>(optimizer_traffic(training_.optimizer, formats_, updated).value()));
  if (!facts(training_.optimizer).orthogonalises_matrices || updated.matrix == 0) return traffic;
  // As square matrices of a unit's mean size.
  const double mean = static_cast<double>(p.dense.matrix + p.expert.matrix) /
                      static_cast<double>(std::max<std::int64_t>(1, stage.units * matrices_per_unit));
  const auto side = static_cast<std::int64_t>(std::max(1.0, std::sqrt(mean)));
  const double matrices = static_cast<double>(updated.matrix) / static_cast<double>(side * side);
  return traffic +
         muon_iterations * muon_products * matrices * kernels.product({1, side, side, side}, formats_.activation);
}

Picoseconds StepPricer::optimizer(const StageCost& stage, const Strategy& s) const {
  return scaled(optimizer_time(stage, s));
}

Picoseconds StepPricer::overhead() const {
  return to_picoseconds(Seconds(blocks_.kernels().calibration().stack.step_overhead_s));
}

StepTime StepPricer::price(const StageTable& stages, const Strategy& s) const {
  std::vector<RankTimes> times;
  Picoseconds slowest_optimizer(0);
  for (const StageCost& stage : stages.distinct()) {
    times.push_back(rank_times(stage, s));
    slowest_optimizer = std::max(slowest_optimizer, optimizer(stage, s));
  }
  std::size_t busiest = 0;
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward;
  std::vector<Picoseconds> weight;
  std::vector<Picoseconds> latency;
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const RankTimes& t = times[static_cast<std::size_t>(stages.layout().of_rank[rank])];
    forward.push_back(t.forward);
    backward.push_back(t.backward);
    // Products spend as much on weight gradients as on input gradients; all else precedes the input gradient.
    if (splits_backward(s.schedule)) weight.push_back(stages[rank].backward.compute / std::int64_t{2});
    if (rank > 0) latency.push_back(t.hop);
    if (forward[rank] + backward[rank] > forward[busiest] + backward[busiest]) busiest = rank;
  }
  const Picoseconds makespan =
      pipeline_makespan(s.schedule, {forward, backward, latency, weight}, s.micro_batches, s.virtual_stages);
  const RankTimes& t = times[static_cast<std::size_t>(stages.layout().of_rank[busiest])];
  const StageCost& stage = stages[busiest];
  const std::int64_t m = s.micro_batches;
  const auto both = [&](Picoseconds PhaseTime::*part) { return m * (stage.forward.*part + stage.backward.*part); };
  StepTime result;
  TimeBreakdown& time = result.breakdown;
  time[TimeCause::compute] = both(&PhaseTime::compute) + m * t.accumulation;
  time[TimeCause::recompute] = m * stage.recompute.total();
  time[TimeCause::tensor_parallel] = both(&PhaseTime::tensor_parallel);
  time[TimeCause::context_parallel] = both(&PhaseTime::context_parallel);
  time[TimeCause::expert_parallel] = both(&PhaseTime::expert_parallel);
  time[TimeCause::data_parallel] = m * t.sharding();
  // What remains of the makespan is waiting: for the pipeline to fill and drain, for neighbours, for transfers.
  time[TimeCause::pipeline_bubble] = makespan - time.total();
  time[TimeCause::data_parallel] += worst_reduction(stages, times, s);
  time[TimeCause::optimizer] = slowest_optimizer;
  time[TimeCause::step_overhead] = overhead();
  return result;
}

Picoseconds StepPricer::lower_bound(const StageTable& stages, const Strategy& s) const {
  Picoseconds bound(0);
  Picoseconds before(0);
  const bool gpipe = s.schedule == Schedule::gpipe;
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    const StageCost& stage = stages[rank];
    const Picoseconds work = stage.forward_total() + stage.backward_total();
    bound = std::max(bound, before + s.micro_batches * work);
    before += (splits_backward(s.schedule) ? stage.forward_total() : work) / std::int64_t{s.virtual_stages};
  }
  if (gpipe) bound = std::max(bound, before);
  return bound + overhead();
}

std::vector<CommunicationLine> StepPricer::communication(const StageTable& stages, const Strategy& s) const {
  std::vector<CommunicationLine> lines;
  const std::int64_t m = s.micro_batches;
  const StageCost* heaviest = &stages[0];
  for (const StageCost& stage : stages.distinct())
    if (stage.wire.tensor + stage.wire.expert > heaviest->wire.tensor + heaviest->wire.expert) heaviest = &stage;
  const auto add = [&](Axis axis, std::string collective, Bytes bytes, Seconds time) {
    if (bytes.value() > 0) lines.push_back({std::string(to_text(axis)), std::move(collective), bytes, time});
  };
  const auto phase = [&](Picoseconds PhaseTime::*part) {
    return to_seconds(m * (heaviest->forward.*part + heaviest->backward.*part));
  };
  add(Axis::tensor, s.sequence_parallel == SequenceParallel::on ? "all_gather and reduce_scatter" : "all_reduce",
      m * heaviest->wire.tensor, phase(&PhaseTime::tensor_parallel));
  add(Axis::context, "ring send_receive", m * heaviest->wire.context, phase(&PhaseTime::context_parallel));
  add(Axis::expert, "all_to_all", m * heaviest->wire.expert, phase(&PhaseTime::expert_parallel));
  if (s.pipeline_stages > 1) {
    const Bytes boundary = stages[stages.size() - 1].boundary;
    const std::int64_t hops = 2 * m * s.virtual_stages;
    add(Axis::pipeline, "send_receive", hops * boundary,
        static_cast<double>(hops) * blocks_.communication().time(Collective::send_receive, boundary,
                                                                 {2, rank_group(s, Axis::pipeline).stride}));
  }
  for (const Sharing& sharing : sharings(heaviest->parameters, s)) {
    const auto collective = [&](Collective kind, const char* name, Axis axis, Bytes bytes, RankGroup group,
                                std::int64_t times) {
      add(axis, name, times * wire_bytes(kind, bytes, group.size),
          static_cast<double>(times) * blocks_.communication().time(kind, bytes, group));
    };
    const Bytes gradient = storage(sharing.trained, formats_.reduction);
    const Bytes weight = storage(s.zero_stage >= 3 ? sharing.parameters : sharing.trained, formats_.weight);
    if (s.zero_stage > 0) {
      collective(Collective::reduce_scatter, "reduce_scatter", sharing.axis, gradient, sharing.shard,
                 s.zero_stage >= 2 ? m : 1);
      collective(Collective::all_gather, "all_gather", sharing.axis, weight, sharing.shard,
                 s.zero_stage >= 3 ? 2 * m : 1);
    }
    const Axis copies = s.zero_stage > 0 && sharing.axis == Axis::shard ? Axis::replicate : sharing.axis;
    collective(Collective::all_reduce, "all_reduce", copies, gradient / std::int64_t{sharing.shard.size},
               sharing.replicate, 1);
  }
  return lines;
}

}  // namespace plumbline
