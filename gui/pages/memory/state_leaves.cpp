#include "gui/pages/memory/state_leaves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/cost/stack_shard.h"
#include "core/cost/stage_memory.h"
#include "core/quantity/text.h"

namespace plumbline::gui {
namespace {

/// A parameter tensor of one execution, and what it weighs in a class.
struct Part {
  std::size_t execution = 0;
  std::string tensor;
  double weight = 0;
  std::int64_t elements = 0;
};

/// From which ZeRO stage on a class is divided.
std::int32_t divided_from(MemoryClass memory_class) {
  if (memory_class == MemoryClass::weights) return 3;
  return memory_class == MemoryClass::gradients ? 2 : 1;
}

std::vector<Part> parts_of(MemoryClass memory_class, const Question& question, const Strategy& strategy,
                           const std::vector<std::size_t>& executions) {
  const Graph& graph = question.graph();
  const Shard shard = shard_of(strategy, question.training(), question.calibration().stack);
  const bool is_divided = strategy.zero_stage >= divided_from(memory_class);
  const ShardRanks ranks = is_divided ? shard_ranks(strategy) : ShardRanks{};
  std::vector<Part> parts;
  for (const std::size_t execution : executions) {
    const Block& block = graph.block(graph.sequence()[execution]);
    for (const Op& op : block.ops())
      for (const TensorId id : op.parameters) {
        const Tensor& tensor = block.tensor(id);
        if (tensor.tied || (memory_class != MemoryClass::weights && !tensor.trainable)) continue;
        const std::int64_t elements = local_elements(tensor, shard);
        const bool is_expert = tensor.partition == Partition::expert;
        const auto holders = static_cast<double>(is_expert ? ranks.expert : ranks.dense);
        parts.push_back({execution, tensor.name, static_cast<double>(elements) / holders, elements});
      }
  }
  return parts;
}

/// A tensor of all layers as one part, called by its first and last layer.
std::vector<MemoryLeaf> merged(const std::vector<Part>& parts, const std::vector<Bytes>& bytes,
                               const std::vector<std::string>& names) {
  struct Sum {
    std::size_t first = 0, last = 0;
    std::int64_t count = 0;
    Bytes bytes{0};
  };
  std::map<std::string, Sum> sums;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Sum& sum = sums[parts[i].tensor];
    if (sum.count++ == 0) sum.first = parts[i].execution;
    sum.last = parts[i].execution;
    sum.bytes += bytes[i];
  }
  std::vector<MemoryLeaf> leaves;
  for (const auto& [tensor, sum] : sums) {
    const std::string last = sum.last == sum.first ? "" : " to " + names[sum.last];
    leaves.push_back({tensor + ", " + names[sum.first] + last, std::to_string(sum.count) + " tensors", sum.bytes});
  }
  return leaves;
}

}  // namespace

bool is_state(MemoryClass memory_class) {
  return memory_class == MemoryClass::weights || memory_class == MemoryClass::gradients ||
         memory_class == MemoryClass::master_weights || memory_class == MemoryClass::optimizer_state;
}

std::vector<MemoryLeaf> state_leaves(MemoryClass memory_class, Bytes total, const Question& question,
                                     const Strategy& strategy, const std::vector<std::size_t>& executions,
                                     const std::vector<std::string>& names) {
  const std::vector<Part> parts = parts_of(memory_class, question, strategy, executions);
  double sum = 0;
  for (const Part& part : parts) sum += part.weight;
  if (sum <= 0) return {};
  std::vector<Bytes> bytes;
  Bytes left = total;
  for (const Part& part : parts) {
    bytes.emplace_back(static_cast<std::int64_t>(std::floor(static_cast<double>(total.value()) * (part.weight / sum))));
    left = left - bytes.back();
  }
  const auto largest = std::max_element(bytes.begin(), bytes.end());
  *largest += left;
  if (parts.size() > most_state_leaves) return merged(parts, bytes, names);
  std::vector<MemoryLeaf> leaves;
  for (std::size_t i = 0; i < parts.size(); ++i)
    leaves.push_back({names[parts[i].execution] + ", " + parts[i].tensor,
                      grouped(parts[i].elements) + " elements of this rank", bytes[i]});
  return leaves;
}

}  // namespace plumbline::gui
