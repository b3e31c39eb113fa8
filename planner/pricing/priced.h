#pragma once
/// \file priced.h: the tables between a question and a price: blocks of a strategy, layouts of a pipeline.
///
/// One path for every recompute mode and every split: blocks with their variants, and which chunk and variant each
/// execution of a block takes.

#include <span>
#include <vector>

#include "core/cost/held_states.h"
#include "core/cost/stage_memory.h"
#include "planner/question/question.h"

namespace plumbline {

class RankLayersTable;

/// One BlockCost per block of the question's graph, for every site of the cluster; with the choices of a placement
/// where the strategy asks for one.
[[nodiscard]] std::vector<BlockCost> block_costs(const Question& question, const Strategy& strategy);
/// The same without the choices of a placement, and without recompute by operator where the strategy does not ask for
/// it; and that, put in. `alike`: of a strategy that differs in what experts alone depend on; what blocks without
/// experts cost is taken from there.
[[nodiscard]] std::vector<BlockCost> bare_block_costs(const Question& question, const Strategy& strategy,
                                                      const std::vector<BlockCost>* alike = nullptr);
void add_by_operator(std::vector<BlockCost>& costs, const Question& question, const Strategy& strategy);
/// `groups`: of block_costs of the same; what is placed or balanced depends on them.
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy, const RankLayersTable& groups);
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy,
                                    const std::vector<BlockCost>& blocks);
[[nodiscard]] StageLayout layout_of(const Question& question, const Strategy& strategy);
/// What ranks hold whatever is computed again, of plans that differ in ZeRO stage, shard group and recompute only.
class StatesOfPlans {
 public:
  /// `sharing`: one plan for every way to share states.
  StatesOfPlans(const Question& question, std::vector<Strategy> sharing);
  [[nodiscard]] const std::vector<Strategy>& sharing() const { return sharing_; }
  /// Of one pipeline rank, in the order of `sharing`; worked out once. `stage`: its cost with any recompute.
  [[nodiscard]] std::span<const HeldStates> of(std::int32_t rank, const StageCost& stage);

 private:
  const Question* question_;
  std::vector<Strategy> sharing_;
  std::vector<std::vector<HeldStates>> of_rank_;
};

/// The memory of the rank that needs most, for plans that differ in ZeRO stage and shard group only. In a mixed
/// cluster, of its own device: as Question::on_smallest says it.
class PeakMemory {
 public:
  /// `stages` must outlive it.
  PeakMemory(const Question& question, const StageTable& stages, const Strategy& family);
  [[nodiscard]] Bytes of(const Strategy& strategy) const;
  /// Of all ways to share states, in their order.
  [[nodiscard]] std::vector<Bytes> of_all(StatesOfPlans& states) const;

 private:
  struct Rank {
    std::int32_t index;
    const StageCost* stage;
    PeakLoads load;
  };
  [[nodiscard]] Bytes on_device(const Rank& rank, const HeldStates& held) const;

  const Question* question_;
  std::vector<Rank> ranks_;
};
/// Of one plan.
[[nodiscard]] Bytes peak_memory(const Question& question, const StageTable& stages, const Strategy& strategy);
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
