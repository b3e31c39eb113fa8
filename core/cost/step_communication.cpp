// What each group of ranks sends in a step, line by line.
#include <algorithm>
#include <cmath>

#include "core/cost/stage_memory.h"
#include "core/cost/state_sharing.h"
#include "core/cost/step_time.h"

namespace plumbline {
namespace {

Bytes sent_in_layers(const StageSizes& stage) { return stage.wire().tensor + stage.wire().expert; }

/// Alike are one line: those of dense parameters and of experts.
void add_line(std::vector<CommunicationLine>& lines, CommunicationLine line) {
  if (line.bytes_per_step.value() == 0) return;
  const auto same = std::find_if(lines.begin(), lines.end(), [&](const CommunicationLine& one) {
    return one.group == line.group && one.collective == line.collective;
  });
  if (same == lines.end()) {
    lines.push_back(std::move(line));
    return;
  }
  same->bytes_per_step += line.bytes_per_step;
  same->time += line.time;
}

}  // namespace

std::vector<CommunicationLine> StepPricer::communication(const StageTable& stages, const Strategy& s) const {
  std::vector<CommunicationLine> lines;
  const std::int64_t m = s.micro_batches;
  const StageCost* heaviest = &stages[0];
  for (const StageCost& stage : stages.distinct())
    if (sent_in_layers(stage) > sent_in_layers(*heaviest)) heaviest = &stage;
  const auto add = [&](Axis axis, std::string collective, Bytes bytes, Seconds time) {
    add_line(lines, {std::string(to_text(axis)), std::move(collective), bytes, time});
  };
  const auto phase = [&](Picoseconds PhaseTime::*part) {
    return to_seconds(m * (heaviest->forward.*part + heaviest->backward.*part + heaviest->recompute.*part));
  };
  const WireBytes of_micro_batch = heaviest->wire() + heaviest->sent.recompute;
  const auto sent = [&](Bytes WireBytes::*part) { return m * of_micro_batch.*part; };
  add(Axis::tensor, s.sequence_parallel == SequenceParallel::on ? "all_gather and reduce_scatter" : "all_reduce",
      sent(&WireBytes::tensor), phase(&PhaseTime::tensor_parallel));
  add(Axis::context, s.exchanges_heads() ? "all_to_all" : "ring send_receive", sent(&WireBytes::context),
      phase(&PhaseTime::context_parallel));
  add(Axis::expert, "all_to_all", sent(&WireBytes::expert), phase(&PhaseTime::expert_parallel));
  if (s.pipeline_stages > 1) {
    const Bytes boundary = stages[stages.size() - 1].boundary;
    const std::int64_t hops = 2 * m * s.virtual_stages;
    Seconds slowest(0);
    for (std::int32_t rank = s.virtual_stages > 1 ? 0 : 1; rank < s.pipeline_stages; ++rank)
      slowest = std::max(slowest, message_time(sites_[stages[static_cast<std::size_t>(rank)].link].communication(),
                                               rank, boundary, s));
    add(Axis::pipeline, "send_receive", hops * boundary, static_cast<double>(hops) * slowest);
  }
  const StackFeatures& features = sites_.whole().kernels().calibration().stack.features;
  for (const StateSharing& sharing : state_sharings(heaviest->parameters, s)) {
    const auto collective = [&](Collective kind, const char* name, Axis axis, Bytes bytes, RankGroup group,
                                std::int64_t times, double and_parts = 0) {
      const Bytes wire = wire_bytes(kind, bytes, group.size);
      add(axis, name, times * wire + Bytes(std::llround(and_parts * static_cast<double>(wire.value()))),
          (static_cast<double>(times) + and_parts) * sharing_time(kind, bytes, group, heaviest->site));
    };
    const Bytes gradient = storage(sharing.trained, formats_.reduction);
    const Bytes weight =
        s.zero_stage >= 3 ? storage(sharing.parameters, formats_.weight) : updated_weights(sharing, formats_, features);
    if (s.zero_stage > 0) {
      collective(Collective::reduce_scatter, "reduce_scatter", sharing.axis, gradient, sharing.shard,
                 s.zero_stage >= 2 && !keeps_gradients(s, features) ? m : 1);
      const double again = s.zero_stage >= 3 ? static_cast<double>(m) * heaviest->regathered_share() : 0;
      const bool is_secondary = sharing.secondary != sharing.shard;
      const std::int64_t passes = is_secondary ? m : 2 * m;
      collective(Collective::all_gather, "all_gather", sharing.axis, weight, sharing.shard,
                 s.zero_stage < 3 ? 1 : passes, is_secondary ? 0 : again);
      if (is_secondary)
        collective(Collective::all_gather, "all_gather", Axis::secondary_shard, weight, sharing.secondary, m, again);
    }
    const Axis copies = s.zero_stage > 0 && sharing.axis == Axis::shard ? Axis::replicate : sharing.axis;
    collective(Collective::all_reduce, "all_reduce", copies, gradient / std::int64_t{sharing.shard.size},
               sharing.replicate, 1);
  }
  return lines;
}

}  // namespace plumbline
