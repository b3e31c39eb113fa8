#pragma once
/// \file split_placer.h: recompute placed on all ranks of one split, once or again and again within other capacities.
///
/// Answers the variant of every execution. Model: placement.h for each rank by itself; where not even the smallest
/// choice of a rank fits, the one that holds least. Inside a chunk the layers that replay most come first: the backward
/// pass reaches them last, when what the later layers kept is free already. A rank that is asked for again within the
/// same capacity is not placed again.
/// Source: none. Not modelled: as placement.h. Checked against: tests/property/placement_test.cpp.

#include <map>
#include <optional>
#include <vector>

#include "planner/checkpointing/placement.h"

namespace plumbline {

struct Placement {
  std::vector<std::int32_t> variants;  ///< by execution
  bool fits = true;
};

class SplitPlacer {
 public:
  /// Both outlive it.
  SplitPlacer(const RecomputePlacer& placer, const std::vector<Chunk>& chunks);

  /// Within what the device has.
  [[nodiscard]] Placement place();
  /// `capacities`: of each rank.
  [[nodiscard]] Placement place_within(const std::vector<Bytes>& capacities);

 private:
  /// A rank, and what was found for it.
  struct Rank {
    std::vector<RankContent> chunks;
    std::map<Bytes, std::optional<RankPlacement>> placed;  ///< by capacity
    std::optional<RankPlacement> smallest;
  };
  void add(const std::optional<RankPlacement>& placed, std::int32_t rank, Placement& result);
  void assign(const std::vector<VariantCount>& counts, Chunk chunk, std::vector<std::int32_t>& variants) const;

  const RecomputePlacer& placer_;
  const std::vector<Chunk>& chunks_;
  StageLayout unplaced_;
  StageTable kept_;
  std::vector<BlockId> sequence_;
  std::vector<Rank> ranks_;
};

}  // namespace plumbline
