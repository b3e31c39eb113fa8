#include "core/cost/program_cost.h"

#include <algorithm>
#include <cmath>

#include "core/cost/pipeline_time.h"

namespace plumbline {
namespace {

Picoseconds share(Picoseconds whole, double part, double total) {
  if (total <= 0) return Picoseconds(0);
  return Picoseconds(std::llround(static_cast<double>(whole.value()) * part / total));
}
/// What the passes of one segment take.
struct SegmentTimes {
  PhaseTime forward;   ///< with its share of what the stage waits for the host
  PhaseTime backward;  ///< likewise
  PhaseTime recompute;
  CopyTimes copies;                ///< that run inside, as far as they show
  Picoseconds backward_weight{0};  ///< of the backward's compute
};

SegmentTimes segment_times(const StageSizes& sizes, const StagePassTimes& segment, const StagePassTimes& stage,
                           const StageSizes& rank, const RankTimes& times) {
  SegmentTimes t{segment.forward, segment.backward, segment.recompute, segment.copies, Picoseconds(0)};
  const auto of_rank = [](Picoseconds whole, std::int64_t held, std::int64_t all) {
    return share(whole, static_cast<double>(held), static_cast<double>(all));
  };
  const Picoseconds accumulation =
      of_rank(times.accumulation, sizes.parameters.trained_on(rank.parameters), rank.parameters.trained());
  const Picoseconds copying =
      of_rank(times.copying, sizes.parameters.total_on(rank.parameters), rank.parameters.total());
  t.backward_weight = segment.backward_weight + accumulation;
  t.forward.compute += copying;
  t.backward.compute += copying + accumulation;
  const auto of_stage = [](Picoseconds waited, Picoseconds host, Picoseconds of_all) {
    return share(waited, static_cast<double>(host.value()), static_cast<double>(of_all.value()));
  };
  t.forward.compute += of_stage(stage.forward_wait(), segment.host_forward, stage.host_forward);
  t.backward.compute += of_stage(stage.backward_wait(), segment.host_backward, stage.host_backward);
  t.backward_weight += of_stage(stage.backward_weight_wait(), segment.host_backward_weight, stage.host_backward_weight);
  return t;
}

/// What the passes of all segments take, equal ones once.
class SegmentClock {
 public:
  SegmentClock(const PricedPlan& plan, const SegmentTable& segments) : layout_(segments.layout()) {
    for (const RankContent& content : layout_.distinct) times_.push_back(stage_pass_times(content, plan.blocks));
  }
  [[nodiscard]] const StagePassTimes& of(std::size_t segment) const {
    return times_[static_cast<std::size_t>(layout_.of_rank[segment])];
  }

 private:
  const StageLayout& layout_;
  std::vector<StagePassTimes> times_;
};

/// What is common to all ranks of a program.
struct ProgramClocks {
  const SegmentTable& segments;
  SegmentClock of_segments;
  std::vector<RankTimes> ranks;
  std::vector<StageLink> links;
};

/// The times of one rank's actions.
class RankClock {
 public:
  RankClock(const PricedPlan& plan, const Program& program, std::int32_t rank, const ProgramClocks& clocks)
      : plan_(plan),
        stage_(plan.ranks[static_cast<std::size_t>(rank)]),
        rank_(rank),
        links_(clocks.links),
        sent_(plan.steps.sharing_bytes(stage_.parameters, plan.strategy)),
        shared_(plan.steps.sharing_times(stage_, plan.strategy)) {
    const RankTimes& of_rank = clocks.ranks[static_cast<std::size_t>(rank)];
    shared_.scatter += of_rank.scattered_once;
    const SegmentTable& segments = clocks.segments;
    for (std::int32_t c = 0; c < program.shape.virtual_stages; ++c) {
      const std::int32_t stage = stage_of(program.placement, program.shape.pipeline_stages, rank, c);
      const auto s = static_cast<std::size_t>(stage);
      segments_.emplace_back();
      for (std::size_t i = segments.first_of_stage(s); i < segments.first_of_stage(s + 1); ++i)
        segments_.back().push_back(
            segment_times(segments.sizes(i), clocks.of_segments.of(i), plan.ranks.stage(s), stage_, of_rank));
    }
  }

  [[nodiscard]] Picoseconds of(const Action& a) const {
    return std::visit([&](const auto& what) { return time_of(what, a); }, a.what);
  }

 private:
  [[nodiscard]] const SegmentTimes& segment(const Action& a, std::int32_t index) const {
    return segments_[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(index)];
  }
  [[nodiscard]] static const PhaseTime& phase(const SegmentTimes& t, ComputeKind kind) {
    if (kind == ComputeKind::recompute) return t.recompute;
    return kind == ComputeKind::forward ? t.forward : t.backward;
  }
  /// A part of the rank's whole communication of a kind, by bytes.
  [[nodiscard]] static Picoseconds part(Picoseconds whole, Bytes bytes, Bytes sent) {
    return share(whole, static_cast<double>(bytes.value()), static_cast<double>(sent.value()));
  }

  [[nodiscard]] Picoseconds time_of(const ComputePass& pass, const Action& a) const {
    const SegmentTimes& t = segment(a, pass.segment);
    if (pass.of == ComputeKind::backward_weight) return t.backward_weight;
    const Picoseconds whole = phase(t, pass.of).compute;
    return pass.of == ComputeKind::backward_input ? whole - t.backward_weight : whole;
  }
  [[nodiscard]] Picoseconds time_of(const BlockCollective& collective, const Action& a) const {
    const PhaseTime& of_pass = phase(segment(a, collective.segment), collective.of);
    if (collective.axis == BlockAxis::tensor) return of_pass.tensor_parallel;
    return collective.axis == BlockAxis::context ? of_pass.context_parallel : of_pass.expert_parallel;
  }
  /// In transit the message takes the time, else the receiver does.
  [[nodiscard]] Picoseconds time_of(const StageMessage& message, const Action&) const {
    const bool is_sent = message.end == MessageEnd::send;
    if (is_sent != (message.handover == Handover::in_transit)) return Picoseconds(0);
    return links_[link_between(rank_, message.peer)].hop;
  }
  [[nodiscard]] Picoseconds time_of(const ParameterGather& gather, const Action&) const {
    if (plan_.strategy.zero_stage < 3) return part(shared_.update, gather.bytes, sent_.update);
    return gather.direction == Direction::backward ? part(shared_.gather_backward, gather.bytes, sent_.gather_backward)
                                                   : part(shared_.gather, gather.bytes, sent_.gather);
  }
  [[nodiscard]] Picoseconds time_of(const GradientReduction& reduction, const Action&) const {
    return reduction.of == GradientsOf::step ? part(shared_.reduction, reduction.bytes, sent_.reduction)
                                             : part(shared_.scatter, reduction.bytes, sent_.scatter);
  }
  /// In order: of copies inside of a segment, what shows.
  [[nodiscard]] Picoseconds time_of(const HostCopy& copy, const Action& a) const {
    if (a.issue != Issue::in_order || copy.is_of_states()) return plan_.steps.copy_to_host(copy.bytes, stage_.site);
    const SegmentTimes& t = segment(a, copy.segment);
    return copy.to == CopyTo::host ? t.copies.forward : t.copies.backward;
  }
  [[nodiscard]] Picoseconds time_of(const TiedSum&, const Action&) const {
    return plan_.steps.tied_reduction(plan_.ranks, plan_.strategy);
  }
  [[nodiscard]] Picoseconds time_of(const OptimizerStep&, const Action&) const {
    return plan_.steps.optimizer(stage_, plan_.strategy);
  }
  /// What takes none, or takes it inside of the optimizer's step.
  [[nodiscard]] Picoseconds time_of(const ParameterRelease&, const Action&) const { return Picoseconds(0); }
  [[nodiscard]] Picoseconds time_of(const PartialSum&, const Action&) const { return Picoseconds(0); }
  [[nodiscard]] Picoseconds time_of(const MatrixGather&, const Action&) const { return Picoseconds(0); }

  const PricedPlan& plan_;
  const StageCost& stage_;
  std::int32_t rank_;
  const std::vector<StageLink>& links_;
  SharingBytes sent_;
  SharingTimes shared_;
  std::vector<std::vector<SegmentTimes>> segments_;
};

/// Messages of a rank and what shares its states leave by the same network cards.
std::vector<StreamLinks> network_links(std::int32_t ranks) {
  std::vector<StreamLinks> links(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    StreamLinks& of_rank = links[static_cast<std::size_t>(rank)];
    of_rank.fill(-1);
    of_rank[static_cast<std::size_t>(Stream::data)] = of_rank[static_cast<std::size_t>(Stream::pipeline)] = rank;
  }
  return links;
}

}  // namespace

ActionTimes action_times(const PricedPlan& plan, const SegmentTable& segments, const Program& program) {
  ProgramClocks clocks{segments, SegmentClock(plan, segments), {}, plan.steps.links(plan.ranks, plan.strategy)};
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank)
    clocks.ranks.push_back(plan.steps.rank_times(plan.ranks[rank], plan.strategy));
  ActionTimes result;
  result.overhead = plan.steps.overhead();
  result.overlap_slowdown = plan.stack.communication.overlap_slowdown;
  result.steps_early = plan.steps.steps_early(plan.ranks, plan.strategy);
  for (const Picoseconds load : link_loads(clocks.links, plan.strategy, program.placement))
    result.busiest_link = std::max(result.busiest_link, load);
  if (program.overlapped_actions > 0 && plan.steps.shares_network(plan.strategy)) {
    result.links = network_links(program.shape.pipeline_stages);
    for (const StageLink& link : clocks.links) result.leaves_node.push_back(link.leaves_node ? 1 : 0);
  }
  for (std::int32_t rank = 0; rank < program.shape.pipeline_stages; ++rank) {
    const RankClock clock(plan, program, rank, clocks);
    const std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
    std::vector<Picoseconds>& row = result.of_rank.emplace_back();
    row.reserve(actions.size());
    for (const Action& action : actions) row.push_back(clock.of(action));
  }
  return result;
}

}  // namespace plumbline
