#pragma once
/// \file block_tables.h: what the blocks of one question cost, by what that depends on: searches that follow each other
/// price them once.
///
/// Answers one BlockCost per block, without the choices of a placement. Model: they depend on tp, cp and how its ranks
/// communicate, ep, etp, sequence parallelism, micro-batch, FlashAttention, whether the schedule pairs passes around
/// exchanges, and recompute of modules or by operator (the other modes are priced in every table). Blocks without
/// experts do not depend on ep and etp, and are priced once for all of them. Of blocks that have the same instructions
/// one is lowered (core/program/known_programs.h). Source: core/sharding/shard.h, core/plan/rank_group.h (what a shard
/// and its groups are made from). Not modelled: questions or fixed values that differ; each has tables of its own,
/// which know its blocks by their addresses. Checked against: tests/unit/planner/search/block_tables_test.cpp.

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/plan/priced_values.h"
#include "core/program/known_programs.h"
#include "planner/pricing/priced.h"
#include "planner/question/stop_request.h"

namespace plumbline {

using BlockTable = std::vector<BlockCost>;

/// Strategies of equal keys have the same costs of blocks, those of a placement's choices apart.
[[nodiscard]] inline auto block_key(const Strategy& s) {
  const bool pairs_exchanges = s.expert_parallel > 1 && record_of(s.schedule).paired == PairedPasses::yes;
  const bool joins = joins_layers(s.recompute);
  return std::tuple(values_priced_in<PricedIn::blocks>(s), s.recompute.modules,
                    s.recompute.mode == RecomputeMode::by_operator || joins, joins, pairs_exchanges);
}

class BlockTables {
 public:
  using Key = decltype(block_key({}));
  [[nodiscard]] static Key key_of(const Strategy& s) { return block_key(s); }

  /// Tables of strategies with the same one differ only in the costs of blocks with experts.
  [[nodiscard]] static Key key_without_experts(Strategy s) {
    s.expert_parallel = s.expert_tensor_parallel = 1;
    return key_of(s);
  }

  /// The tables of all samples, in order; those that are not known yet are priced on `threads` threads. None if
  /// it was stopped; what was priced until then may be kept.
  [[nodiscard]] std::vector<std::shared_ptr<const BlockTable>> of(const Question& question,
                                                                  const std::vector<Strategy>& samples,
                                                                  std::int32_t threads, const StopRequest& stop);
  /// Of the same blocks, for whoever prices more of their strategies. Any thread may use them.
  [[nodiscard]] KnownPrograms& programs() { return programs_; }

 private:
  using Tables = std::map<Key, std::shared_ptr<const BlockTable>>;
  [[nodiscard]] bool price(const Question& question, const std::vector<const Strategy*>& samples, std::int32_t threads,
                           const StopRequest& stop);

  KnownPrograms programs_;
  Tables known_;
  Tables equivalent_;  ///< one for each key without experts
};

}  // namespace plumbline
