#include "core/plan/divided_dimensions.h"

#include <algorithm>

namespace plumbline {
namespace {

/// "input", "output", or a layer's number in order of execution.
std::string unit_name(BlockKind kind, std::int64_t layer) {
  if (kind == BlockKind::input) return "input";
  return kind == BlockKind::output ? "output" : "layers." + std::to_string(layer);
}

void add_distinct(std::vector<DividedSize>& list, DividedSize dimension) {
  const auto is_same = [&](const DividedSize& d) { return d.size == dimension.size && d.heads == dimension.heads; };
  if (std::none_of(list.begin(), list.end(), is_same)) list.push_back(std::move(dimension));
}

void add_parameter(NetworkFacts& facts, const Op& op, const Tensor& tensor, const std::string& name) {
  if (tensor.partition == Partition::tensor) {
    const Dimension& divided = is_row_parallel(op) ? tensor.shape.back() : tensor.shape.front();
    add_distinct(facts.by_tensor, {name, divided.factor, tensor.partition_units});
  }
  if (tensor.partition != Partition::expert) return;
  add_distinct(facts.by_expert, {name, tensor.shape.front().factor});
  const std::size_t divided = is_row_parallel(op) ? 2 : 1;
  if (divided < tensor.shape.size()) add_distinct(facts.by_expert_tensor, {name, tensor.shape[divided].factor});
}

}  // namespace

void add_divided_dimensions(NetworkFacts& facts, const Graph& graph) {
  std::int64_t layer = 0;
  for (const BlockRun& run : graph.runs()) {
    const Block& block = graph.block(run.block);
    const std::string unit = unit_name(block.kind(), layer);
    for (const Op& op : block.ops())
      for (const TensorId id : op.parameters)
        add_parameter(facts, op, block.tensor(id), unit + "." + block.tensor(id).name);
    if (block.kind() == BlockKind::layer) layer += run.count;
  }
}

}  // namespace plumbline
