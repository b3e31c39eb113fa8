// What ranks send to share their states: parameters, gradients and updated weights.
#include "core/cost/state_sharing.h"

#include <algorithm>

#include "core/cost/quantisation.h"
#include "core/cost/stage_memory.h"
#include "core/cost/step_time.h"
#include "core/cost/time_limits.h"

namespace plumbline {

std::array<StateSharing, 2> state_sharings(const RankParameters& held, const Strategy& s) {
  const RankParameters p = padded(held, replica_ranks(s));
  const ShardRanks ranks = shard_ranks(s);
  const auto groups = [](RankGroup all, std::int64_t shard) {
    const auto size = static_cast<std::int32_t>(std::max<std::int64_t>(1, shard));
    return std::pair(RankGroup{size, all.stride}, RankGroup{all.size / size, all.stride * size});
  };
  const auto [shard, replicate] = groups(rank_group(s, Axis::gradient), ranks.dense);
  const auto [expert_shard, expert_replicate] = groups(rank_group(s, Axis::expert_gradient), ranks.expert);
  const ShardRanks backward = secondary_ranks(s);
  const RankGroup secondary{static_cast<std::int32_t>(backward.dense), shard.stride};
  const RankGroup expert_secondary{static_cast<std::int32_t>(backward.expert), expert_shard.stride};
  // Adapters alongside frozen matrices stay in 16 bits.
  const auto matrices = [](const ParameterSplit& all, const ParameterSplit& trained) {
    return all.matrix == trained.matrix ? trained.matrix : 0;
  };
  return {StateSharing{shard, secondary, replicate, s.zero_stage == 0 ? Axis::gradient : Axis::shard, p.dense.total(),
                       p.dense_trained.total(), matrices(p.dense, p.dense_trained)},
          StateSharing{expert_shard, expert_secondary, expert_replicate, Axis::expert_gradient, p.expert.total(),
                       p.expert_trained.total(), matrices(p.expert, p.expert_trained)}};
}

Bytes updated_weights(const StateSharing& sharing, const PrecisionFormats& formats, const StackFeatures& features) {
  const bool is_few_bits = features.fp8_parameters == QuantizedWeights::alone && is_quantized(formats.matmul) &&
                           formats.matmul != NumberFormat::fp4 && scales_tensors(formats.scaling);
  if (!is_few_bits) return storage(sharing.trained, formats.weight);
  return storage(sharing.trained_matrices, formats.matmul) +
         storage(sharing.trained - sharing.trained_matrices, formats.weight);
}

Bytes scatter_bucket(const StackSizes& stack) {
  if (stack.features.sharded_states == ShardedStates::masters) return Bytes(0);
  return Bytes(static_cast<std::int64_t>(stack.bucket_bytes));
}

/// Unit by unit, as frameworks gather and reduce; gradients bucket by bucket where a bucket is larger.
///
/// Tensor by tensor, torch.distributed takes a list of every rank's segment: a view and a copy each, which the host
/// launches while the device waits. Small tensors stay whole; their gradients are reduced like all others.
Seconds StepPricer::sharded_time(Collective kind, Bytes bytes, const StageCost& stage, Axis axis,
                                 RankGroup group) const {
  const StackCalibration& stack = sites_.whole().kernels().calibration().stack;
  const bool reduces = kind == Collective::reduce_scatter;
  const auto sent_by = [&](std::int64_t count, Bytes bucket) {
    const std::int64_t units = std::max<std::int64_t>(1, count);
    bucket = std::min(bucket, bytes);
    if (bucket > bytes / units) return bytes / bucket * sharing_time(kind, bucket, group, stage.site);
    return static_cast<double>(units) * sharing_time(kind, bytes / units, group, stage.site);
  };
  if (stack.sharding.gathered_from_elements <= 0 || axis == Axis::expert_gradient || group.size < 2)
    return sent_by(stage.units, reduces ? scatter_bucket(stack) : Bytes(0));
  const std::int64_t large = reduces ? std::min(stage.tensors.gathered, stage.tensors.trained) : stage.tensors.gathered;
  const std::int64_t small = reduces ? stage.tensors.trained - large : 0;
  const Bytes least = storage(group.size, formats_.reduction);
  return sent_by(large, Bytes(0)) + static_cast<double>(small) * sharing_time(kind, least, group, stage.site) +
         static_cast<double>((large + small) * group.size) * Seconds(stack.sharding.host_time_per_piece_s);
}

Seconds StepPricer::sharing_time(Collective kind, Bytes bytes, RankGroup group, std::int32_t site) const {
  const CommunicationClock& clock = sites_[site].communication();
  const Seconds time = clock.time(kind, bytes, group);
  if (group.size < 2 || !group_span(group.size, group.stride, clock.cluster()).crosses_network()) return time;
  return (1 / sites_.whole().kernels().calibration().stack.communication.network_card_share.value) * time;
}

/// All-reduce without ZeRO, reduce-scatter and all-gather with stage 1, the all-gather of updated weights with stage 2;
/// replicas of hybrid shard groups sum their shards.
SharingTimes StepPricer::sharing_times(const StageCost& stage, const Strategy& s) const {
  SharedStates<Seconds> time;
  const StackFeatures& features = sites_.whole().kernels().calibration().stack.features;
  for (const StateSharing& sharing : state_sharings(stage.parameters, s)) {
    const Bytes gradient = storage(sharing.trained, formats_.reduction);
    const auto gathered = [&](RankGroup group) {
      return sharded_time(Collective::all_gather, storage(sharing.parameters, formats_.weight), stage, sharing.axis,
                          group);
    };
    if (s.zero_stage >= 3) {
      const Seconds forward = gathered(sharing.shard);
      time.gather += forward;
      time.gather_backward += sharing.secondary == sharing.shard ? forward : gathered(sharing.secondary);
    }
    if (s.zero_stage >= 2)
      time.scatter += sharded_time(Collective::reduce_scatter, gradient, stage, sharing.axis, sharing.shard);
    if (s.zero_stage == 1)
      time.reduction += sharing_time(Collective::reduce_scatter, gradient, sharing.shard, stage.site);
    if (s.zero_stage == 1 || s.zero_stage == 2)
      time.update +=
          sharing_time(Collective::all_gather, updated_weights(sharing, formats_, features), sharing.shard, stage.site);
    time.reduction += sharing_time(Collective::all_reduce, gradient / std::int64_t{sharing.shard.size},
                                   sharing.replicate, stage.site);
  }
  return {phase_time(time.gather),  phase_time(stage.regathered_share() * time.gather_backward),
          phase_time(time.scatter), phase_time(time.reduction),
          phase_time(time.update),  phase_time(time.gather_backward)};
}

/// Without overlap all of it is late, in one piece.
ReductionRule reduction_rule(const StageSizes& stage, const Strategy& s, const StackSizes& stack,
                             const PrecisionFormats& formats) {
  if (stack.features.overlap == CollectiveOverlap::none) return {1, 1, 1};
  const bool is_by_chunk =
      stack.features.gradient_buckets == GradientBucketsOf::chunk && s.virtual_stages > 1 && s.zero_stage < 2;
  const Bytes gradients = storage(std::max<std::int64_t>(1, stage.parameters.trained()), formats.reduction);
  const auto share = [&](double bucket) { return std::min(1.0, bucket / static_cast<double>(gradients.value())); };
  return {is_by_chunk ? 0 : stack.late_share, share(stack.bucket_bytes),
          share(static_cast<double>(scatter_bucket(stack).value())), is_by_chunk};
}

ReductionRule StepPricer::reduction_rule(const StageSizes& stage, const Strategy& s) const {
  return plumbline::reduction_rule(stage, s, sites_.whole().kernels().calibration().stack, formats_);
}

SharingBytes sharing_bytes(const RankParameters& parameters, const Strategy& s, const PrecisionFormats& formats,
                           const StackFeatures& features) {
  SharingBytes sent;
  for (const StateSharing& sharing : state_sharings(parameters, s)) {
    const auto wire = [&](Collective kind, std::int64_t elements, NumberFormat format, RankGroup group) {
      return wire_bytes(kind, storage(elements, format), group.size);
    };
    const Bytes scattered = wire(Collective::reduce_scatter, sharing.trained, formats.reduction, sharing.shard);
    const Bytes updated =
        wire_bytes(Collective::all_gather, updated_weights(sharing, formats, features), sharing.shard.size);
    if (s.zero_stage >= 3) {
      sent.gather += wire(Collective::all_gather, sharing.parameters, formats.weight, sharing.shard);
      sent.gather_backward += wire(Collective::all_gather, sharing.parameters, formats.weight, sharing.secondary);
    }
    if (s.zero_stage >= 2) sent.scatter += scattered;
    if (s.zero_stage == 1) sent.reduction += scattered;
    if (s.zero_stage == 1 || s.zero_stage == 2) sent.update += updated;
    sent.reduction +=
        wire(Collective::all_reduce, sharing.trained / sharing.shard.size, formats.reduction, sharing.replicate);
  }
  return sent;
}

SharingBytes StepPricer::sharing_bytes(const RankParameters& parameters, const Strategy& s) const {
  return plumbline::sharing_bytes(parameters, s, formats_, sites_.whole().kernels().calibration().stack.features);
}

Bytes tied_bytes(const StageSizes& last, const Strategy& s, const PrecisionFormats& formats) {
  const std::int64_t tied = last.parameters.tied_trained;
  const std::int64_t held =
      s.zero_stage >= 2 ? divided(padded(tied, replica_ranks(s).dense), shard_ranks(s).dense) : tied;
  return s.pipeline_stages > 1 ? storage(held, formats.reduction) : Bytes(0);
}

Bytes StepPricer::tied_bytes(const StageTable& stages, const Strategy& s) const {
  return plumbline::tied_bytes(stages[stages.size() - 1], s, formats_);
}

/// Both copies of a tied embedding need the sum of both gradients.
Picoseconds StepPricer::tied_reduction(const StageTable& stages, const Strategy& s) const {
  const Bytes bytes = tied_bytes(stages, s);
  if (bytes.value() == 0) return Picoseconds(0);
  const CommunicationClock& clock = sites_.whole().communication();
  const GroupSpan ends = stages_span(rank_group(s, Axis::pipeline).stride, 0, s.pipeline_stages - 1, clock.cluster());
  const StackCalibration& stack = sites_.whole().kernels().calibration().stack;
  const bool is_exposed = stack.features.overlap == CollectiveOverlap::none;
  const double exposure = is_exposed ? 1 : static_cast<double>(stack.communication.data_parallel_exposure);
  return phase_time(exposure * clock.time(Collective::all_reduce, bytes, ends));
}

std::vector<StageLink> StepPricer::links(const StageTable& stages, const Strategy& s) const {
  std::vector<StageLink> links(stages.size());
  if (s.pipeline_stages == 1) return links;
  for (std::size_t r = 0; r < links.size(); ++r)
    links[r] = stage_link(sites_[stages[r].link], static_cast<std::int32_t>(r), stages[r].boundary, s);
  if (links.size() == 2) links.front() = links.back();
  return links;
}

bool StepPricer::shares_network(const Strategy& s) const {
  const Cluster& cluster = sites_.whole().communication().cluster();
  return reduces_over_network(cluster, s) && any_stage_leaves_node(cluster, s);
}

}  // namespace plumbline
