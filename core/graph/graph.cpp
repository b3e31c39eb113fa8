#include "core/graph/graph.h"

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Most executions of blocks that any real network comes near; keeps absurd files from exhausting memory.
constexpr std::int64_t most_executions = 1'000'000;

void require_same_boundary(const Block& before, const Block& after) {
  const auto refuse = [&](const std::string& what) {
    throw InputError({"blocks " + before.name() + " and " + after.name(), what,
                      "the outputs of one to be the inputs of the next", ""});
  };
  if (before.outputs().size() != after.inputs().size()) refuse("hand over different numbers of tensors");
  for (std::size_t i = 0; i < before.outputs().size(); ++i) {
    const Tensor& given = before.tensor(before.outputs()[i]);
    const Tensor& taken = after.tensor(after.inputs()[i]);
    if (given.shape != taken.shape)
      refuse(given.name + " " + to_text(given.shape) + " does not match " + taken.name + " " + to_text(taken.shape));
  }
}

}  // namespace

Graph::Graph(std::string name, std::vector<Block> blocks, std::vector<BlockRun> runs)
    : name_(std::move(name)), blocks_(std::move(blocks)), runs_(std::move(runs)) {
  std::int64_t executions = 0;
  for (const BlockRun& run : runs_) {
    if (!run.block.is_valid() || run.block.index() >= static_cast<std::int32_t>(blocks_.size()))
      throw InputError(
          {"network " + name_, "a run names block " + std::to_string(run.block.index()), "a block that exists", ""});
    if (run.count < 1 || run.count > most_executions)
      throw InputError(
          {"network " + name_, "a block is repeated " + std::to_string(run.count) + " times", "1 to 1000000", ""});
    executions += run.count;
  }
  if (runs_.empty() || executions > most_executions)
    throw InputError(
        {"network " + name_, "has " + std::to_string(executions) + " block executions", "1 to 1000000", ""});
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Block& current = block(runs_[i].block);
    const bool may_stand_here = current.kind() == BlockKind::input    ? i == 0 && runs_[i].count == 1
                                : current.kind() == BlockKind::output ? i + 1 == runs_.size() && runs_[i].count == 1
                                                                      : true;
    if (!may_stand_here)
      throw InputError({"network " + name_ + ", block " + current.name(), "is in the middle or repeated",
                        "input blocks first, output blocks last, each once", ""});
    if (runs_[i].count > 1) require_same_boundary(current, current);
    if (i + 1 < runs_.size()) require_same_boundary(current, block(runs_[i + 1].block));
  }
}

std::vector<BlockId> Graph::sequence() const {
  std::vector<BlockId> result;
  for (const BlockRun& run : runs_) result.insert(result.end(), static_cast<std::size_t>(run.count), run.block);
  return result;
}

std::int64_t Graph::layer_count() const {
  std::int64_t layers = 0;
  for (const BlockRun& run : runs_)
    if (block(run.block).kind() == BlockKind::layer) layers += run.count;
  return layers;
}

}  // namespace plumbline
