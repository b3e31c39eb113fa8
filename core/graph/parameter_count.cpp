#include "core/graph/parameter_count.h"

namespace plumbline {
namespace {

/// The parameters of one op that are stored nowhere else.
std::int64_t own_parameters(const Block& block, const Op& op) {
  std::int64_t count = 0;
  for (const TensorId id : op.parameters)
    if (!block.tensor(id).tied) count += element_count(block.tensor(id).shape, SymbolValues{});
  return count;
}

template <class PerBlock>
std::int64_t sum_over_runs(const Graph& graph, PerBlock per_block) {
  std::int64_t count = 0;
  for (const BlockRun& run : graph.runs()) count += run.count * per_block(graph.block(run.block));
  return count;
}

}  // namespace

std::int64_t parameter_count(const Block& block) {
  std::int64_t count = 0;
  for (const Op& op : block.ops()) count += own_parameters(block, op);
  return count;
}

std::int64_t active_parameter_count(const Block& block) {
  std::int64_t count = 0;
  for (const Op& op : block.ops()) {
    std::int64_t own = own_parameters(block, op);
    if (const auto* grouped = std::get_if<GroupedLinearAttributes>(&op.attributes))
      own = own / grouped->experts * grouped->rows_per_token;
    count += own;
  }
  return count;
}

std::int64_t parameter_count(const Graph& graph) {
  return sum_over_runs(graph, [](const Block& block) { return parameter_count(block); });
}

std::int64_t active_parameter_count(const Graph& graph) {
  return sum_over_runs(graph, [](const Block& block) { return active_parameter_count(block); });
}

}  // namespace plumbline
