#include "core/cost/program_cost.h"

#include <algorithm>
#include <cmath>

#include "core/cost/pipeline_time.h"
#include "core/program/action_kinds.h"

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

SegmentTimes segment_times(const StageCost& segment, const StageCost& stage, const StageCost& rank,
                           const RankTimes& times) {
  SegmentTimes t{segment.forward, segment.backward, segment.recompute, segment.copies, Picoseconds(0)};
  const auto of_rank = [](Picoseconds whole, std::int64_t held, std::int64_t all) {
    return share(whole, static_cast<double>(held), static_cast<double>(all));
  };
  const Picoseconds accumulation =
      of_rank(times.accumulation, segment.parameters.trained_on(rank.parameters), rank.parameters.trained());
  const Picoseconds copying =
      of_rank(times.copying, segment.parameters.total_on(rank.parameters), rank.parameters.total());
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

/// The times of one rank's actions.
class RankClock {
 public:
  RankClock(const PricedPlan& plan, const SegmentTable& segments, const Program& program, std::int32_t rank,
            const std::vector<RankTimes>& times, const std::vector<StageLink>& links)
      : plan_(plan),
        stage_(plan.ranks[static_cast<std::size_t>(rank)]),
        rank_(rank),
        links_(links),
        sent_(plan.steps.sharing_bytes(stage_.parameters, plan.strategy)),
        shared_(plan.steps.sharing_times(stage_, plan.strategy)) {
    shared_.scatter += times[static_cast<std::size_t>(rank)].scattered_once;
    for (std::int32_t c = 0; c < program.shape.virtual_stages; ++c) {
      const std::int32_t stage = stage_of(program.placement, program.shape.pipeline_stages, rank, c);
      const auto s = static_cast<std::size_t>(stage);
      segments_.emplace_back();
      for (std::size_t i = segments.first_of_stage(s); i < segments.first_of_stage(s + 1); ++i)
        segments_.back().push_back(
            segment_times(segments.cost(i), plan.ranks.stage(s), stage_, times[static_cast<std::size_t>(rank)]));
    }
  }

  [[nodiscard]] Picoseconds of(const Action& a) const {
    if (a.stream == Stream::data) return of_sharing(a);
    if (a.stream == Stream::copy) return of_copy(a);
    if (a.pass == Pass::step) return of_step(a);
    if (a.segment < 0) return of_transfer(a);
    const SegmentTimes& t = segments_[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(a.segment)];
    const PhaseTime& phase = a.replay == IsReplay::yes ? t.recompute : a.pass == Pass::forward ? t.forward : t.backward;
    switch (a.kind) {
      case ActionKind::forward:
      case ActionKind::recompute:
      case ActionKind::backward: return phase.compute;
      case ActionKind::backward_input: return phase.compute - t.backward_weight;
      case ActionKind::backward_weight: return t.backward_weight;
      case ActionKind::tensor_collective: return phase.tensor_parallel;
      case ActionKind::context_collective: return phase.context_parallel;
      case ActionKind::expert_collective: return phase.expert_parallel;
      default: return Picoseconds(0);
    }
  }

 private:
  /// In order: of copies inside of a segment, what shows.
  [[nodiscard]] Picoseconds of_copy(const Action& a) const {
    if (a.issue != Issue::in_order || a.segment < 0) return plan_.steps.copy_to_host(a.bytes, stage_.site);
    const SegmentTimes& t = segments_[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(a.segment)];
    return a.kind == ActionKind::offload ? t.copies.forward : t.copies.backward;
  }
  [[nodiscard]] Picoseconds of_step(const Action& a) const {
    return a.kind == ActionKind::optimizer_step ? plan_.steps.optimizer(stage_, plan_.strategy) : Picoseconds(0);
  }
  /// A share of the rank's whole communication of the kind, by bytes.
  [[nodiscard]] Picoseconds of_sharing(const Action& a) const {
    if (a.barrier == Barrier::gradients) return plan_.steps.tied_reduction(plan_.ranks, plan_.strategy);
    const auto of = [&](Picoseconds time, Bytes sent) {
      return share(time, static_cast<double>(a.bytes.value()), static_cast<double>(sent.value()));
    };
    if (a.kind == ActionKind::all_gather_parameters && a.pass == Pass::step) return Picoseconds(0);
    if (a.kind == ActionKind::all_gather_parameters)
      return plan_.strategy.zero_stage >= 3 ? of(shared_.gather, sent_.gather) : of(shared_.update, sent_.update);
    if (a.kind != ActionKind::reduce_gradients) return Picoseconds(0);
    const bool is_once = a.pass == Pass::step && a.micro_batch < 0;
    return is_once ? of(shared_.reduction, sent_.reduction) : of(shared_.scatter, sent_.scatter);
  }
  /// In transit the message takes the time, else the receiver does.
  [[nodiscard]] Picoseconds of_transfer(const Action& a) const {
    if (is_send(a.kind) != (a.handover == Handover::in_transit)) return Picoseconds(0);
    return links_[link_between(rank_, a.peer)].hop;
  }

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
  std::vector<RankTimes> times;
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank)
    times.push_back(plan.steps.rank_times(plan.ranks[rank], plan.strategy));
  ActionTimes result;
  result.overhead = plan.steps.overhead();
  result.overlap_slowdown = plan.stack.communication.overlap_slowdown;
  result.steps_early = plan.steps.steps_early(plan.ranks, plan.strategy);
  const std::vector<StageLink> links = plan.steps.links(plan.ranks, plan.strategy);
  for (const Picoseconds load : link_loads(links, plan.strategy))
    result.busiest_link = std::max(result.busiest_link, load);
  if (program.overlapped_actions > 0 && plan.steps.shares_network(plan.strategy)) {
    result.links = network_links(program.shape.pipeline_stages);
    for (const StageLink& link : links) result.leaves_node.push_back(link.leaves_node ? 1 : 0);
  }
  for (std::int32_t rank = 0; rank < program.shape.pipeline_stages; ++rank) {
    const RankClock clock(plan, segments, program, rank, times, links);
    const std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
    std::vector<Picoseconds>& row = result.of_rank.emplace_back();
    row.reserve(actions.size());
    for (const Action& action : actions) row.push_back(clock.of(action));
  }
  return result;
}

}  // namespace plumbline
