#include "core/cost/program_cost.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

Picoseconds share(Picoseconds whole, double part, double total) {
  if (total <= 0) return Picoseconds(0);
  return Picoseconds(std::llround(static_cast<double>(whole.value()) * part / total));
}
Picoseconds share(Picoseconds whole, Picoseconds part, Picoseconds total) {
  return share(whole, static_cast<double>(part.value()), static_cast<double>(total.value()));
}

/// What one pass of one piece takes, by what occupies the rank.
struct PassTimes {
  PhaseTime phase;
  Picoseconds gather{0};
};
struct PieceTimes {
  PassTimes forward;
  PassTimes backward;
  Picoseconds recompute{0};
  Picoseconds backward_weight{0};  ///< of the backward's compute
  Picoseconds scatter{0};
};

PieceTimes piece_times(const StageCost& piece, const StageCost& rank, const RankTimes& times) {
  PieceTimes t;
  t.forward = {piece.forward, share(times.gather_forward, piece.forward_total(), rank.forward_total())};
  t.backward = {piece.backward, share(times.gather_backward, piece.backward_total(), rank.backward_total())};
  t.scatter = share(times.scatter, piece.backward_total(), rank.backward_total());
  t.recompute = piece.recompute.total();
  const Picoseconds accumulation = share(times.accumulation, static_cast<double>(piece.parameters.trained()),
                                         static_cast<double>(rank.parameters.trained()));
  t.backward_weight = piece.backward.compute / std::int64_t{2} + accumulation;
  t.backward.phase.compute += accumulation;
  return t;
}

/// The times of one rank's actions.
class RankClock {
 public:
  RankClock(const PricedPlan& plan, const PieceTable& pieces, const Program& program, std::int32_t rank,
            const std::vector<RankTimes>& times)
      : plan_(plan), stage_(plan.ranks[static_cast<std::size_t>(rank)]), rank_(rank), times_(times) {
    for (std::int32_t c = 0; c < program.shape.virtual_stages; ++c) {
      const std::int32_t stage = stage_of(program.placement, program.shape.pipeline_stages, rank, c);
      const auto s = static_cast<std::size_t>(stage);
      pieces_.emplace_back();
      for (std::size_t i = pieces.first_of_stage(s); i < pieces.first_of_stage(s + 1); ++i)
        pieces_.back().push_back(piece_times(pieces.cost(i), stage_, times[static_cast<std::size_t>(rank)]));
    }
  }

  [[nodiscard]] Picoseconds of(const Action& a) const {
    if (a.pass == Pass::step) return of_step(a);
    if (a.piece < 0) return of_transfer(a);
    const PieceTimes& t = pieces_[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(a.piece)];
    const PassTimes& pass = a.pass == Pass::forward ? t.forward : t.backward;
    switch (a.kind) {
      case ActionKind::forward:
      case ActionKind::backward: return pass.phase.compute;
      case ActionKind::backward_input: return pass.phase.compute - t.backward_weight;
      case ActionKind::backward_weight: return t.backward_weight;
      case ActionKind::recompute: return t.recompute;
      case ActionKind::tensor_collective: return pass.phase.tensor_parallel;
      case ActionKind::context_collective: return pass.phase.context_parallel;
      case ActionKind::expert_collective: return pass.phase.expert_parallel;
      case ActionKind::all_gather_parameters: return pass.gather;
      case ActionKind::reduce_gradients: return t.scatter;
      default: return Picoseconds(0);
    }
  }

 private:
  [[nodiscard]] Picoseconds of_step(const Action& a) const {
    if (a.kind == ActionKind::optimizer_step) return plan_.steps.optimizer(stage_, plan_.strategy);
    if (a.barrier == Barrier::gradients) return plan_.steps.tied_reduction(plan_.ranks, plan_.strategy);
    return plan_.steps.exposed_reduction(stage_, plan_.strategy);
  }
  /// In transit the message takes the time, and the link is the later rank's; else the receiver does.
  [[nodiscard]] Picoseconds of_transfer(const Action& a) const {
    const bool sends = a.kind == ActionKind::send_forward || a.kind == ActionKind::send_backward;
    if (sends != (a.handover == Handover::in_transit)) return Picoseconds(0);
    return times_[static_cast<std::size_t>(sends ? std::max(rank_, a.peer) : rank_)].hop;
  }

  const PricedPlan& plan_;
  const StageCost& stage_;
  std::int32_t rank_;
  const std::vector<RankTimes>& times_;
  std::vector<std::vector<PieceTimes>> pieces_;
};

}  // namespace

ActionTimes action_times(const PricedPlan& plan, const PieceTable& pieces, const Program& program) {
  std::vector<RankTimes> times;
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank)
    times.push_back(plan.steps.rank_times(plan.ranks[rank], plan.strategy));
  ActionTimes result{{}, plan.steps.overhead()};
  for (std::int32_t rank = 0; rank < program.shape.pipeline_stages; ++rank) {
    const RankClock clock(plan, pieces, program, rank, times);
    const std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
    std::vector<Picoseconds>& row = result.of_rank.emplace_back();
    row.reserve(actions.size());
    for (const Action& action : actions) row.push_back(clock.of(action));
  }
  return result;
}

}  // namespace plumbline
