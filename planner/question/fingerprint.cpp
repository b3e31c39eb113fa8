#include "planner/question/fingerprint.h"

#include <array>
#include <cstdint>

#include "core/io/machine_json.h"
#include "core/io/strategy_json.h"
#include "core/io/training_json.h"

namespace plumbline {
namespace {

std::string canonical_text(const Graph& graph) {
  std::string text = graph.name();
  for (const BlockRun& run : graph.runs())
    text += "|" + std::to_string(run.block.index()) + "x" + std::to_string(run.count);
  for (const Block& block : graph.blocks()) {
    text += "\n" + block.name();
    for (const Tensor& t : block.tensors())
      text += "\n" + t.name + to_text(t.shape) + std::to_string(static_cast<int>(t.role)) +
              std::to_string(static_cast<int>(t.partition)) + std::to_string(t.partition_units) +
              (t.trainable ? "t" : "f") + (t.tied ? "s" : "o");
    for (const Op& op : block.ops()) {
      text += "\n" + std::string(to_text(op.kind)) + op.name;
      for (const auto* ids : {&op.inputs, &op.parameters, &op.outputs})
        for (const TensorId id : *ids) text += "," + std::to_string(id.index());
    }
  }
  return text;
}

}  // namespace

std::string fingerprint(std::string_view text) {
  constexpr std::uint64_t offset = 14695981039346656037u;  // FNV-1a, 64 bits
  constexpr std::uint64_t prime = 1099511628211u;
  std::uint64_t hash = offset;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result(16, '0');
  for (std::size_t i = result.size(); i-- > 0; hash >>= 4) result[i] = digits[hash & 15];
  return result;
}

std::string fingerprint(const Graph& graph) { return fingerprint(canonical_text(graph)); }
std::string fingerprint(const Cluster& cluster) { return fingerprint(to_json_text(to_json(cluster))); }
std::string fingerprint(const Plan& plan) {
  Training training = plan.training;
  training.token_budget.reset();
  return fingerprint(plan.model.fingerprint + to_json_text(to_json(training)) +
                     to_json_text(to_json(plan.strategy, training)));
}

}  // namespace plumbline
