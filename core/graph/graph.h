#pragma once
/// \file graph.h: a network: blocks, each held once, and the order in which they are executed.
///
/// The order is a list of runs (block, how often), so 96 equal layers are one entry. Estimators take this and know no
/// architecture by name.

#include <string>
#include <vector>

#include "core/base/strong_id.h"
#include "core/graph/block.h"

namespace plumbline {

using BlockId = StrongId<struct BlockTag>;

struct BlockRun {
  BlockId block;
  std::int64_t count = 1;
  bool operator==(const BlockRun&) const = default;
};

class Graph {
 public:
  /// Throws InputError when a run names no block, a count is not positive, neighbours do not agree on the tensors
  /// between them, or an input (output) block is anywhere but first (last).
  Graph(std::string name, std::vector<Block> blocks, std::vector<BlockRun> runs);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[static_cast<std::size_t>(id.index())]; }
  [[nodiscard]] const std::vector<BlockRun>& runs() const { return runs_; }
  /// The blocks in order of execution, one entry per execution.
  [[nodiscard]] std::vector<BlockId> sequence() const;
  /// How many blocks of kind `layer` are executed.
  [[nodiscard]] std::int64_t layer_count() const;

 private:
  std::string name_;
  std::vector<Block> blocks_;
  std::vector<BlockRun> runs_;
};

}  // namespace plumbline
