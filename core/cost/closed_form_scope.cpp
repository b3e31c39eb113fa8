#include "core/cost/closed_form_scope.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

/// Chunks within 15 % of their rank's mean and hops within a twentieth of a chunk's forward leave at most 2.4 % of
/// difference over ten thousand random plans; without limits it reaches 31 %. With as many micro-batches as stages
/// every rank meets the heavy chunk in turn, so that less is allowed.
constexpr double most_chunk_spread = 0.15;
constexpr double most_chunk_spread_of_one_round = 0.02;
constexpr double most_hop_share = 0.05;

std::vector<const StageCost*> chunks_of(const PricedPlan& plan, const PieceTable& chunks, std::int32_t rank) {
  std::vector<const StageCost*> result;
  for (std::int32_t c = 0; c < plan.strategy.virtual_stages; ++c) {
    const Strategy& s = plan.strategy;
    const std::int32_t stage = stage_of(placement(s.schedule), s.pipeline_stages, rank, c);
    result.push_back(&chunks.cost(chunks.first_of_stage(static_cast<std::size_t>(stage))));
  }
  return result;
}

double work(const StageCost& cost) {
  return static_cast<double>((cost.forward_total() + cost.backward_total()).value());
}

}  // namespace

bool has_sharp_step_time(const PricedPlan& plan, const PieceTable& chunks) {
  const Strategy& s = plan.strategy;
  if (s.virtual_stages == 1) return true;
  const double spread = s.micro_batches > s.pipeline_stages ? most_chunk_spread : most_chunk_spread_of_one_round;
  for (std::int32_t rank = 0; rank < s.pipeline_stages; ++rank) {
    const StageCost& whole = plan.ranks[static_cast<std::size_t>(rank)];
    const double mean = work(whole) / s.virtual_stages;
    for (const StageCost* chunk : chunks_of(plan, chunks, rank))
      if (std::abs(work(*chunk) - mean) > spread * mean) return false;
    const Picoseconds hop = plan.steps.rank_times(whole, s).hop;
    const double forward = static_cast<double>(whole.forward_total().value()) / s.virtual_stages;
    if (static_cast<double>(hop.value()) > most_hop_share * forward) return false;
  }
  return true;
}

bool has_sharp_memory(const PricedPlan& plan, const PieceTable& chunks, std::int32_t rank) {
  const std::vector<const StageCost*> all = chunks_of(plan, chunks, rank);
  return std::all_of(all.begin(), all.end(), [&](const StageCost* chunk) {
    return chunk->saved == all.front()->saved && chunk->working == all.front()->working &&
           chunk->logits == all.front()->logits;
  });
}

}  // namespace plumbline
