#pragma once
/// \file expert_ops.h: writes the operators of a mixture of experts into a block.
///
/// A router weights the chosen experts of each token, dispatch sends a token to them, [batch, sequence, chosen,
/// features], grouped products run them, and combine sums what they return.

#include "core/graph/token_ops.h"

namespace plumbline {

struct GroupedLinearSpec {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;
  WeightPartition partition = WeightPartition::column;
  Bias bias = Bias::no;
};

namespace ops {

/// The weights of the chosen experts per token.
TensorId router(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t experts, std::int64_t chosen,
                Bias bias = Bias::no);
TensorId dispatch(BlockBuilder& block, const std::string& name, TensorId x, TensorId weights, std::int64_t chosen);
/// One output per entry (gate and up of a gated expert are one operator).
std::vector<TensorId> grouped_linear(BlockBuilder& block, const std::string& name, TensorId x,
                                     const std::vector<LinearOutput>& outputs, GroupedLinearSpec spec);
TensorId grouped_linear(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t features,
                        GroupedLinearSpec spec);
TensorId combine(BlockBuilder& block, const std::string& name, TensorId routed, TensorId weights, std::int64_t chosen);

}  // namespace ops
}  // namespace plumbline
