#pragma once
/// \file parameter_shards.h: which dimension of every parameter which group divides, and the flat order that ZeRO
/// divides.
///
/// Answers: per block, in elements; no bytes. What holds for one execution of a block holds for all of them, so that
/// the answer does not grow with layers or ranks. Model: tensor parallelism divides the features or heads of a linear
/// (its rows where it is column-parallel, its columns where it is row-parallel) and the vocabulary; expert parallelism
/// the experts, expert-tensor parallelism their features. The parameters of one execution lie one after another in
/// sections, by who shares them and whether they are trained; a section is padded to a multiple of the ranks that hold
/// the same parameters, and its states are divided in equal parts over a group.
/// Source: core/sharding/shard.h and core/cost/rank_parameters.h; ZeRO, arXiv:1910.02054, section 5.
/// Not modelled: dimensions that do not divide evenly, but for heads of which ranks hold copies.
/// Checked against: tests/integration/launcher_test.py (what the runtime holds, random strategies);
/// tests/unit/planner/launch/parameter_shards_test.cpp (by hand).

#include <string>
#include <vector>

#include "core/cost/stage_cost.h"
#include "core/plan/axis.h"
#include "core/plan/strategy.h"

namespace plumbline {

/// One dimension in equal parts over the ranks of a group.
struct DividedDimension {
  std::int64_t dimension = 0;
  Axis over = Axis::tensor;
  std::int64_t heads = 0;  ///< that the dimension consists of, and that stay whole; 0: none
};

struct ParameterShard {
  std::string name;                 ///< in its block
  std::vector<std::int64_t> shape;  ///< whole
  std::vector<DividedDimension> divided;
  bool is_trained = true;
  bool is_tied = false;  ///< the embedding: on a rank that holds that too it is the same memory and in no section
};

/// Parameters of one execution of a block that the same ranks share.
struct ShardSection {
  bool is_expert = false;
  bool is_trained = true;
  std::vector<std::int64_t> parameters;  ///< of the block, in their flat order
  std::int64_t elements = 0;             ///< on one rank, before states are divided
  std::int64_t padded = 0;
  std::int64_t parts = 1;     ///< over the shard group, or the experts'; 1: states are not divided
  std::int64_t matrices = 0;  ///< of `parameters`, those that a whole-matrix optimizer has put first
};

struct BlockShards {
  std::string name;
  std::vector<ParameterShard> parameters;
  std::vector<ShardSection> sections;
};

/// By block of the graph. `chunks`: of executions, in the order of the network (Arrangement).
[[nodiscard]] std::vector<BlockShards> block_shards(const Graph& graph, const Strategy& strategy, Optimizer optimizer,
                                                    const std::vector<Chunk>& chunks);

}  // namespace plumbline
