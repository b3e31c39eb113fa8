#include "core/cost/step_time.h"

#include <algorithm>
#include <cmath>

#include "core/cost/pipeline_time.h"
#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

/// (a^p + b^p)^(1/p): b hides behind a the better the larger p is.
Seconds overlapped(Seconds a, Seconds b, double p) {
  const double larger = std::max(a.value(), b.value());
  if (larger <= 0) return Seconds(0);
  return Seconds(larger * std::pow(std::pow(a.value() / larger, p) + std::pow(b.value() / larger, p), 1 / p));
}

/// Muon orthogonalises each matrix update by Newton-Schulz iterations of three products of an m x m by an m x n matrix
/// (m the shorter side); as a share of the parameters: 5 iterations, 2 m (2 + m / n) FLOPs a parameter with m about
/// hidden. Source: Jordan et al., "Muon", 2024.
constexpr double muon_iterations = 5;
constexpr double muon_products = 3;

}  // namespace

/// Per-rank times with sharding communication folded in, as the pipeline sees them.
struct StepPricer::StageTimes {
  std::vector<Picoseconds> forward;
  std::vector<Picoseconds> backward;
  std::vector<Picoseconds> latency;
  std::vector<Picoseconds> sharding;      ///< of forward + backward: exposed gathers and reductions
  std::vector<Picoseconds> accumulation;  ///< of backward: adding gradients up
  [[nodiscard]] PipelineTimes view() const { return {forward, backward, latency}; }
};

StepPricer::StepPricer(const BlockPricer& blocks, const Training& training)
    : blocks_(blocks), training_(training), formats_(training.formats()) {}

Picoseconds StepPricer::scaled(Seconds time) const {
  return to_picoseconds(blocks_.kernels().calibration().stack.step_factor * time);
}

StepPricer::StageTimes StepPricer::stage_times(std::span<const StageCost> stages, const Strategy& s) const {
  const StackCalibration& stack = blocks_.kernels().calibration().stack;
  const CommunicationClock& clock = blocks_.communication();
  const RankGroup shard = rank_group(s, Axis::shard);
  const RankGroup pipeline = rank_group(s, Axis::pipeline);
  StageTimes times;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageCost& stage = stages[i];
    Picoseconds forward = stage.forward_total();
    Picoseconds accumulation(0);
    if (s.micro_batches > 1)
      accumulation =
          scaled(blocks_.kernels().stream(stack.accumulation_bytes * static_cast<double>(stage.parameters.trained())));
    Picoseconds backward = stage.backward_total() + accumulation;
    const Picoseconds alone = forward + backward;
    const std::int64_t units = std::max<std::int64_t>(1, stage.units);
    const auto per_unit = [&](Collective kind, std::int64_t count, NumberFormat format) {
      return scaled(static_cast<double>(units) * clock.time(kind, storage(count / units, format), shard));
    };
    if (s.zero_stage >= 3) {
      const Picoseconds gather = per_unit(Collective::all_gather, stage.parameters.dense.total(), formats_.weight);
      forward = to_picoseconds(overlapped(to_seconds(forward), to_seconds(gather), stack.shard_overlap_norm));
      backward = to_picoseconds(overlapped(
          to_seconds(backward),
          to_seconds(gather +
                     per_unit(Collective::reduce_scatter, stage.parameters.dense_trained.total(), formats_.reduction)),
          stack.shard_overlap_norm));
    } else if (s.zero_stage == 2) {
      backward = to_picoseconds(overlapped(
          to_seconds(backward),
          to_seconds(per_unit(Collective::reduce_scatter, stage.parameters.dense_trained.total(), formats_.reduction)),
          stack.shard_overlap_norm));
    }
    times.sharding.push_back(forward + backward - alone);
    times.accumulation.push_back(accumulation);
    if (s.pipeline_stages > 1) {
      const Seconds hop =
          stack.pipeline_exposure * clock.time(Collective::send_receive, stage.boundary, {2, pipeline.stride});
      if (i > 0) times.latency.push_back(scaled(hop));
      // Every virtual stage sends once more, between the first and last rank too.
      const Picoseconds extra = scaled(static_cast<double>(s.virtual_stages - 1) * hop);
      forward += extra;
      backward += extra;
    }
    times.forward.push_back(forward);
    times.backward.push_back(backward);
  }
  return times;
}

Picoseconds StepPricer::reduction(const StageCost& stage, const Strategy& s) const {
  const CommunicationClock& clock = blocks_.communication();
  const Bytes dense_gradient = storage(stage.parameters.dense_trained.total(), formats_.reduction);
  const Bytes dense_weight = storage(stage.parameters.dense_trained.total(), formats_.weight);
  const Bytes expert_gradient = storage(stage.parameters.expert_trained.total(), formats_.reduction);
  const RankGroup gradient = rank_group(s, Axis::gradient);
  const RankGroup shard = rank_group(s, Axis::shard);
  const RankGroup replicate = rank_group(s, Axis::replicate);
  Seconds time = clock.time(Collective::all_reduce, expert_gradient, rank_group(s, Axis::expert_gradient));
  if (s.zero_stage == 0) return scaled(time + clock.time(Collective::all_reduce, dense_gradient, gradient));
  if (s.zero_stage == 1) time += clock.time(Collective::reduce_scatter, dense_gradient, shard);
  if (s.zero_stage <= 2) time += clock.time(Collective::all_gather, dense_weight, shard);
  if (replicate.size > 1)
    time += clock.time(Collective::all_reduce, dense_gradient / std::int64_t{s.shard_group}, replicate);
  return scaled(time);
}

Picoseconds StepPricer::exposed_reduction(std::span<const StageCost> stages, const StageTimes& times,
                                          const Strategy& s) const {
  const double exposure = blocks_.kernels().calibration().stack.data_parallel_exposure;
  Picoseconds drain(0);  // backward work of earlier stages, which runs after this stage has finished
  Picoseconds worst(0);
  Picoseconds unexposed(0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    // Equal neighbours share a price: only the first, the last and a few stages between differ.
    if (i == 0 || stages[i].parameters.trained() != stages[i - 1].parameters.trained())
      unexposed = reduction(stages[i], s);
    const auto exposed = Picoseconds(std::llround(exposure * static_cast<double>(unexposed.value())));
    if (exposed > drain) worst = std::max(worst, exposed - drain);
    drain += times.backward[i] / std::int64_t{s.virtual_stages};
  }
  if (s.pipeline_stages > 1 && stages.back().parameters.tied > 0) {
    // Both copies of a tied embedding need the sum of both gradients.
    const RankGroup ends{2, rank_group(s, Axis::pipeline).stride * (s.pipeline_stages - 1)};
    worst += scaled(exposure * blocks_.communication().time(Collective::all_reduce,
                                                            storage(stages.back().parameters.tied, formats_.reduction),
                                                            ends));
  }
  return worst;
}

Picoseconds StepPricer::optimizer_step(std::span<const StageCost> stages, const Strategy& s) const {
  const KernelClock& kernels = blocks_.kernels();
  const ShardRanks ranks = s.zero_stage >= 1 ? shard_ranks(s) : ShardRanks{};
  const OptimizerFacts& optimizer = facts(training_.optimizer);
  Seconds slowest(0);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const RankParameters& p = stages[i].parameters;
    const ParameterSplit updated{
        divided(p.dense_trained.matrix, ranks.dense) + divided(p.expert_trained.matrix, ranks.expert),
        divided(p.dense_trained.other, ranks.dense) + divided(p.expert_trained.other, ranks.expert)};
    Seconds time =
        kernels.stream(kernels.calibration().stack.optimizer_traffic_factor *
                       static_cast<double>(optimizer_traffic(training_.optimizer, formats_, updated).value()));
    if (optimizer.orthogonalises_matrices && updated.matrix > 0) {
      const auto side = static_cast<std::int64_t>(std::sqrt(
          static_cast<double>(std::max<std::int64_t>(1, p.dense.matrix / std::max<std::int64_t>(1, stages[i].units)))));
      const std::int64_t matrices = std::max<std::int64_t>(1, updated.matrix / std::max<std::int64_t>(1, side * side));
      time += muon_iterations * muon_products * static_cast<double>(matrices) *
              kernels.product({1, side, side, side}, formats_.activation);
    }
    slowest = std::max(slowest, time);
  }
  return scaled(slowest);
}

StepTime StepPricer::price(std::span<const StageCost> stages, const Strategy& s) const {
  const StageTimes times = stage_times(stages, s);
  const Picoseconds makespan = pipeline_makespan(s.schedule, times.view(), s.micro_batches, s.virtual_stages);
  std::size_t busiest = 0;
  for (std::size_t i = 1; i < stages.size(); ++i)
    if (times.forward[i] + times.backward[i] > times.forward[busiest] + times.backward[busiest]) busiest = i;
  const StageCost& stage = stages[busiest];
  const std::int64_t m = s.micro_batches;
  const auto both = [&](Picoseconds PhaseTime::*part) { return m * (stage.forward.*part + stage.backward.*part); };
  StepTime result;
  TimeBreakdown& time = result.breakdown;
  time[TimeCause::compute] = both(&PhaseTime::compute) + m * times.accumulation[busiest];
  time[TimeCause::recompute] = m * stage.recompute.total();
  time[TimeCause::tensor_parallel] = both(&PhaseTime::tensor_parallel);
  time[TimeCause::context_parallel] = both(&PhaseTime::context_parallel);
  time[TimeCause::expert_parallel] = both(&PhaseTime::expert_parallel);
  time[TimeCause::data_parallel] = m * times.sharding[busiest];
  // What remains of the makespan is waiting: for the pipeline to fill and drain, for neighbours, for transfers.
  time[TimeCause::pipeline_bubble] = makespan - time.total();
  time[TimeCause::data_parallel] += exposed_reduction(stages, times, s);
  time[TimeCause::optimizer] = optimizer_step(stages, s);
  time[TimeCause::step_overhead] = to_picoseconds(Seconds(blocks_.kernels().calibration().stack.step_overhead_s));
  return result;
}

Picoseconds StepPricer::lower_bound(std::span<const StageCost> stages, const Strategy& s) const {
  Picoseconds bound(0);
  Picoseconds before(0);
  const bool gpipe = s.schedule == Schedule::gpipe;
  for (const StageCost& stage : stages) {
    const Picoseconds work = stage.forward_total() + stage.backward_total();
    bound = std::max(bound, before + s.micro_batches * work);
    before += work / std::int64_t{s.virtual_stages};
  }
  if (gpipe) bound = std::max(bound, before);
  return bound + to_picoseconds(Seconds(blocks_.kernels().calibration().stack.step_overhead_s));
}

std::vector<CommunicationLine> StepPricer::communication(std::span<const StageCost> stages, const Strategy& s) const {
  std::vector<CommunicationLine> lines;
  const std::int64_t m = s.micro_batches;
  const StageCost* heaviest = &stages.front();
  for (const StageCost& stage : stages)
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
    const Bytes boundary = stages.back().boundary;
    const std::int64_t hops = 2 * m * s.virtual_stages;
    add(Axis::pipeline, "send_receive", hops * boundary,
        static_cast<double>(hops) * blocks_.communication().time(Collective::send_receive, boundary,
                                                                 {2, rank_group(s, Axis::pipeline).stride}));
  }
  const Bytes gradient = storage(heaviest->parameters.dense_trained.total(), formats_.reduction);
  const Bytes weight = storage(heaviest->parameters.dense.total(), formats_.weight);
  const RankGroup group = rank_group(s, s.zero_stage == 0 ? Axis::gradient : Axis::shard);
  const Axis axis = s.zero_stage == 0 ? Axis::gradient : Axis::shard;
  const auto collective = [&](Collective kind, const char* name, Bytes bytes, std::int64_t times) {
    add(axis, name, times * wire_bytes(kind, bytes, group.size),
        static_cast<double>(times) * blocks_.communication().time(kind, bytes, group));
  };
  if (s.zero_stage == 0) {
    collective(Collective::all_reduce, "all_reduce", gradient, 1);
  } else {
    collective(Collective::reduce_scatter, "reduce_scatter", gradient, s.zero_stage >= 2 ? m : 1);
    collective(Collective::all_gather, "all_gather", weight, s.zero_stage >= 3 ? 2 * m : 1);
  }
  return lines;
}

}  // namespace plumbline
