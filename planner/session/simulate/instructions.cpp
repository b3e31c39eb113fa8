#include "planner/session/simulate/instructions.h"

#include <map>
#include <tuple>
#include <vector>

#include "core/plan/schedule.h"
#include "core/program/block_programs.h"
#include "core/sharding/shard.h"

namespace plumbline::session {
namespace {

/// What is lowered alike.
using Kind = std::tuple<std::size_t, std::vector<bool>, RecomputeMode, std::vector<bool>>;

struct Places {
  std::size_t first = 0;  ///< execution in the network's order, from 0
  std::size_t last = 0;
  std::size_t count = 0;
};

std::string places_text(const Places& places) {
  if (places.count == 1) return "runs once, at place " + std::to_string(places.first);
  return "runs " + std::to_string(places.count) + " times, at places " + std::to_string(places.first) + " to " +
         std::to_string(places.last);
}

}  // namespace

std::string instructions_text(const PricedQuestion& asked, const SimulatedPlan& simulated) {
  const Graph& graph = asked.question.graph();
  const Shard shard = shard_of(asked.strategy, asked.question.training());
  const std::vector<BlockId> order = graph.sequence();
  std::map<Kind, Places> kinds;
  std::vector<Kind> by_first;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const Replay& replay = simulated.replays[place];
    const Kind kind{order[place].index(), replay.replayed, replay.mode, replay.kept};
    const auto [found, is_new] = kinds.try_emplace(kind, Places{place, place, 0});
    if (is_new) by_first.push_back(kind);
    found->second.last = place;
    ++found->second.count;
  }
  const BlockPrograms programs = simulated.program.blocks.empty()
                                     ? block_programs(graph, shard, simulated.replays, *simulated.programs)
                                     : simulated.program.blocks;
  const BackwardForm form = splits_backward(asked.strategy.schedule) ? BackwardForm::split : BackwardForm::whole;
  std::string text;
  for (const Kind& kind : by_first) {
    const Places& places = kinds.at(kind);
    const Block& block = graph.blocks()[std::get<0>(kind)];
    text += (text.empty() ? "" : "\n") + block.name() + ", " + places_text(places) + "\n" +
            to_text(*programs[places.first], block, form);
  }
  return text;
}

}  // namespace plumbline::session
