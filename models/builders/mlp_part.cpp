#include "core/graph/expert_ops.h"
#include "models/builders/layer_parts.h"

namespace plumbline {
namespace {

TensorId activated(BlockBuilder& block, const std::string& name, const MlpDescription& mlp, TensorId x) {
  const LinearSpec column{WeightPartition::column, mlp.bias, false};
  if (!mlp.gated)
    return ops::activation(block, name + ".activation", ops::linear(block, name + ".up", x, mlp.width, column));
  const std::vector<TensorId> both =
      ops::linear(block, name + ".gate_up", x, {{"gate", mlp.width, 0}, {"up", mlp.width, 0}}, column);
  return ops::gated_activation(block, name + ".activation", both[0], both[1]);
}

TensorId activated_experts(BlockBuilder& block, const MixtureDescription& m, TensorId routed) {
  const GroupedLinearSpec column{m.experts, m.chosen, WeightPartition::column, m.bias};
  if (!m.gated)
    return ops::activation(block, "experts.activation",
                           ops::grouped_linear(block, "experts.up", routed, m.width, column));
  const std::vector<TensorId> both =
      ops::grouped_linear(block, "experts.gate_up", routed, {{"gate", m.width, 0}, {"up", m.width, 0}}, column);
  return ops::gated_activation(block, "experts.activation", both[0], both[1], m.limits);
}

TensorId routed_experts(BlockBuilder& block, const MixtureDescription& m, TensorId x) {
  const std::int64_t hidden = block.features(x);
  const TensorId weights = ops::router(block, "experts.router", x, m.experts, m.chosen, m.bias);
  const TensorId routed = ops::dispatch(block, "experts.dispatch", x, weights, m.chosen);
  const TensorId inner = activated_experts(block, m, routed);
  const TensorId outer =
      ops::grouped_linear(block, "experts.down", inner, hidden, {m.experts, m.chosen, WeightPartition::row, m.bias});
  return ops::combine(block, "experts.combine", outer, weights, m.chosen);
}

}  // namespace

TensorId mlp_part(BlockBuilder& block, const std::string& name, const MlpDescription& mlp, TensorId x) {
  const std::int64_t hidden = block.features(x);
  TensorId inner = activated(block, name, mlp, x);
  if (mlp.inner_dropout) inner = ops::dropout(block, name + ".inner_dropout", inner);
  return ops::linear(block, name + ".down", inner, hidden, {WeightPartition::row, mlp.bias, false});
}

TensorId mixture_part(BlockBuilder& block, const MixtureDescription& m, TensorId x) {
  const TensorId routed = routed_experts(block, m, x);
  if (m.shared_width == 0) return routed;
  TensorId shared = mlp_part(block, "shared_expert", {m.shared_width, m.gated, Bias::no, false}, x);
  if (m.shared_gate) {
    const TensorId gate =
        ops::linear(block, "shared_expert.scale", x, 1, {WeightPartition::replicated, Bias::no, false});
    shared = ops::gated_activation(block, "shared_expert.scaled", gate, shared);
  }
  return ops::add(block, "experts.sum", routed, shared);
}

}  // namespace plumbline
