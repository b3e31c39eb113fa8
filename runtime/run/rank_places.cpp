#include "runtime/run/rank_places.h"

#include <algorithm>

#include "runtime/execution/rank_groups.h"

namespace plumbline {
namespace {

/// As many as a line may name.
constexpr std::size_t most_named = 16;

}  // namespace

RankPlaces::RankPlaces(std::size_t ranks) : actions_(ranks) {
  for (auto& action : actions_) action = -1;
}

std::vector<PeerStatus> RankPlaces::status() const {
  std::vector<PeerStatus> all;
  for (const auto& action : actions_) all.push_back({action, true});
  return all;
}

std::string places_text(const TrainingJob& job, const std::vector<PeerStatus>& ranks, std::int32_t failed) {
  std::string text;
  for (std::size_t rank = 0; rank < std::min(most_named, ranks.size()); ++rank) {
    const PeerStatus& status = ranks[rank];
    if (static_cast<std::int32_t>(rank) == failed || (status.action < 0 && status.answers)) continue;
    const auto stage =
        static_cast<std::size_t>(coordinate(job.strategy, Axis::pipeline, static_cast<std::int32_t>(rank)));
    text += "; rank " + std::to_string(rank) + " (stage " + std::to_string(stage) + ")";
    if (status.action >= 0)
      text += " at " + to_text(job.program.ranks[stage].actions[static_cast<std::size_t>(status.action)]);
    if (!status.answers) text += status.action >= 0 ? " or behind it, without an answer" : " without an answer";
  }
  return text;
}

}  // namespace plumbline
