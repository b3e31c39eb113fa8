#include "core/program/block_programs.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// A block and how it is replayed.
struct ReplayedBlock {
  BlockId block;
  std::size_t execution = 0;  ///< the first that runs it so
};

}  // namespace

BlockPrograms block_programs(const Graph& graph, const Shard& shard, const std::vector<Replay>& replays,
                             KnownPrograms& known) {
  const std::vector<BlockId> sequence = graph.sequence();
  check(replays.size() == sequence.size(), "every execution of a block has its replay");
  std::vector<ReplayedBlock> runs;
  BlockPrograms programs;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto alike = std::find_if(runs.begin(), runs.end(), [&](const ReplayedBlock& run) {
      return run.block == sequence[i] && replays[run.execution] == replays[i];
    });
    if (alike != runs.end()) {
      programs.push_back(programs[alike->execution]);
      continue;
    }
    runs.push_back({sequence[i], i});
    programs.push_back(BlockLowering(graph.block(sequence[i]), shard, &known).shared(replays[i]));
  }
  return programs;
}

}  // namespace plumbline
