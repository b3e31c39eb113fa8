#pragma once
/// \file priced.h: the tables between a question and a price: blocks of a strategy, layouts of a pipeline.
///
/// One path for every recompute mode and every split: blocks with their variants, and which chunk and variant each
/// execution of a block takes.

#include <vector>

#include "core/cost/stage_cost.h"
#include "planner/question/question.h"

namespace plumbline {

class RankLayersTable;

/// One BlockCost per block of the question's graph, for every site of the cluster; with the choices of a placement
/// where the strategy asks for one. `known`, here and below: programs of the question's blocks, which whoever prices
/// many of its strategies keeps; none: they are lowered for this strategy alone.
[[nodiscard]] std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy,
                                                 KnownPrograms* known = nullptr);
/// The same without the choices of a placement, and without recompute by operator where the strategy does not ask for
/// it; and that, put in. `equivalent`: of a strategy that differs in what experts alone depend on; what blocks without
/// experts cost is taken from there.
[[nodiscard]] std::vector<BlockCost> bare_block_costs(const Question& question, const Strategy& strategy,
                                                      KnownPrograms* known = nullptr,
                                                      const std::vector<BlockCost>* equivalent = nullptr);
void add_by_operator(std::vector<BlockCost>& costs, const Question& question, const Strategy& strategy,
                     KnownPrograms* known = nullptr);
/// `groups`: of block_costs of the same; what is placed or balanced depends on them.
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy, const RankLayersTable& groups);
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy,
                                    const std::vector<BlockCost>& blocks);
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy, KnownPrograms* known = nullptr);
/// What the ranks of one node need of its host's memory: of all kinds of nodes, the one that has least to spare. Under
/// stacks that keep checkpoints there, with those of the heaviest pipeline rank of the kind, on every device.
struct HostMemory {
  Bytes needed{0};
  Bytes available{0};
};
[[nodiscard]] HostMemory host_memory(const Question& question, const StageTable& stages, const Strategy& strategy);
/// Whether that fits.
[[nodiscard]] bool fits_host(const Question& question, const StageTable& stages, const Strategy& strategy);

}  // namespace plumbline
