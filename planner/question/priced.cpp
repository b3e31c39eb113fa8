#include "planner/question/priced.h"

#include <algorithm>

#include "core/cost/stage_memory.h"

namespace plumbline {

std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy) {
  const Shard shard = shard_of(strategy, question.training());
  const BlockGroups groups = block_groups(strategy);
  std::vector<BlockCost> costs;
  for (const Block& block : question.graph().blocks())
    costs.push_back(question.block_pricer().price(block, shard, groups));
  return costs;
}

StageLayout layout_of(const Question& question, const Strategy& strategy) {
  return stage_layout(question.graph(), split_into_chunks(question.graph(), strategy.chunks()),
                      strategy.pipeline_stages, strategy.recompute, placement(strategy.schedule));
}

Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy) {
  Bytes peak(0);
  const PrecisionFormats formats = question.training().formats();
  for (std::size_t d = 0; d < stages.distinct().size(); ++d)
    peak = std::max(peak, stage_memory(stages.distinct()[d], strategy, formats, question.training().optimizer,
                                       question.calibration().stack, stages.layout().first_rank[d])
                              .device_total());
  return peak;
}

Bytes host_memory_per_node(const Question& question) {
  std::int64_t ranks_per_node = 0;
  for (const NodeGroup& group : question.cluster().groups)
    ranks_per_node = std::max<std::int64_t>(ranks_per_node, group.node.devices);
  return Bytes(static_cast<std::int64_t>(question.calibration().stack.host_bytes_per_rank)) * ranks_per_node;
}

bool fits_host(const Question& question) {
  return host_memory_per_node(question) <= question.cluster().groups.front().node.host_memory.value;
}

}  // namespace plumbline
