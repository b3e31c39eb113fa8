#include "core/plan/executed_network.h"

#include <algorithm>

#include "core/graph/rotary_features.h"

namespace plumbline {
namespace {

using Problem = std::optional<InputProblem>;

/// Looks for a problem of one operator.
class OperatorCheck {
 public:
  OperatorCheck(const Graph& graph, const OperatorConstants& constants, const Training& training)
      : graph_(graph), constants_(constants), training_(training) {}

  [[nodiscard]] Problem problem(const Block& block, const Op& op) const {
    const View v{block, op};
    if (!is_executed(op.kind)) return refuse(v, "a " + std::string(to_text(op.kind)), "decoder language models");
    switch (op.kind) {
      case OpKind::attention: return attention(v, std::get<AttentionAttributes>(op.attributes));
      case OpKind::gated_activation:
        if (v.width(op.inputs[0]) == v.width(op.inputs[1])) return {};
        return refuse(v, "a gate of one feature for all", "gates as wide as what they scale");
      case OpKind::grouped_linear:
        if (op.parameters.size() == op.outputs.size()) return {};
        return refuse(v, "a bias of experts", "experts without biases");
      case OpKind::position_embedding: return positions(v);
      case OpKind::rotary: return rotary(v);
      case OpKind::router: return router(v, std::get<RouterAttributes>(op.attributes));
      default: return {};
    }
  }

 private:
  struct View {
    const Block& block;
    const Op& op;
    [[nodiscard]] std::int64_t width(TensorId id) const { return block.tensor(id).shape.back().factor; }
  };

  [[nodiscard]] Problem refuse(const View& v, const std::string& what, const std::string& expected) const {
    return InputProblem{graph_.name(),
                        what + " (operator " + v.op.name + " of block " + v.block.name() + ") is not executed",
                        expected, ""};
  }
  [[nodiscard]] Problem attention(const View& v, const AttentionAttributes& a) const {
    if (!v.op.parameters.empty())
      return refuse(v, "attention with parameters of its own", "attention without sinks and biases");
    if (!a.causal) return refuse(v, "attention to later tokens", "causal attention");
    return {};
  }
  [[nodiscard]] Problem positions(const View& v) const {
    const Tensor& table = v.block.tensor(v.op.parameters.front());
    const std::int64_t rows = table.shape.front().factor - constants_.first_position;
    if (rows >= training_.sequence_length) return {};
    return refuse(v,
                  std::to_string(training_.sequence_length) + " tokens in a row with " + std::to_string(rows) +
                      " learned positions",
                  "sequences of at most " + std::to_string(rows) + " tokens");
  }
  [[nodiscard]] Problem rotary(const View& v) const {
    const Tensor& tensor = v.block.tensor(v.op.inputs.front());
    const std::int64_t head = v.width(v.op.inputs.front()) / std::max<std::int64_t>(1, tensor.partition_units);
    const std::int64_t turned = rotary_features(constants_.rotary, head);
    if (turned >= 2 && turned % 2 == 0) return {};
    return refuse(v, "a rotation of " + std::to_string(turned) + " of a head's " + std::to_string(head) + " features",
                  "pairs of features");
  }
  [[nodiscard]] Problem router(const View& v, const RouterAttributes& a) const {
    if (a.experts <= most_executed_experts) return {};
    return refuse(v, "a choice among " + std::to_string(a.experts) + " experts",
                  "at most " + std::to_string(most_executed_experts));
  }

  const Graph& graph_;
  const OperatorConstants& constants_;
  const Training& training_;
};

/// Of fp8 recipes: one scale for a tensor, or one for each row.
bool has_executed_scales(PrecisionRecipe recipe) {
  return recipe == PrecisionRecipe::fp8 || recipe == PrecisionRecipe::fp8_row;
}

Problem recipe_problem(const Graph& graph, const Training& training) {
  const OptimizerFacts& optimizer = facts(training.optimizer);
  if (optimizer.executed != IsExecuted::yes)
    return not_executed(std::string(optimizer.name) + " has no update that is executed", "another optimizer");
  const PrecisionRecipe precision = training.precision;
  if (precision == PrecisionRecipe::nvfp4 || (is_fp8(precision) && !has_executed_scales(precision)))
    return not_executed("products in " + std::string(to_text(precision)) + " are not executed",
                        "fp32, tf32, bf16, fp16, fp8 or fp8-row");
  if (is_fp8(precision) && has_experts(graph))
    return not_executed("experts in fp8 are not executed", "fp32, tf32, bf16 or fp16");
  return {};
}

}  // namespace

bool has_experts(const Graph& graph) {
  return std::any_of(graph.blocks().begin(), graph.blocks().end(), [](const Block& block) {
    return std::any_of(block.ops().begin(), block.ops().end(),
                       [](const Op& op) { return op.kind == OpKind::grouped_linear; });
  });
}

std::optional<InputProblem> network_problem(const Graph& graph, const OperatorConstants& constants,
                                            const Training& training) {
  if (!constants.not_executed.empty()) return constants.not_executed.front();
  const OperatorCheck check(graph, constants, training);
  for (const Block& block : graph.blocks()) {
    if (block.inputs().size() > 1)
      return InputProblem({graph.name(),
                           "block " + block.name() + " takes " + std::to_string(block.inputs().size()) +
                               " tensors from the one before, which is not executed",
                           "one", ""});
    for (const Op& op : block.ops())
      if (Problem problem = check.problem(block, op)) return problem;
  }
  return recipe_problem(graph, training);
}

}  // namespace plumbline
