#pragma once
/// \file token_ops.h: writes operators over tokens into a block, inferring shapes, partitions and parameters.
///
/// Token tensors are [batch, sequence, features]. What tensor parallelism divides follows from `WeightPartition`:
/// a column linear's outputs are divided (Partition::tensor), a row linear's output and everything between blocks
/// is `sequence` (divided only when sequence parallelism is on).

#include <string>
#include <vector>

#include "core/graph/block_builder.h"

namespace plumbline {

/// One output of a linear operator: its width, and how many indivisible units it has (0: any).
struct LinearOutput {
  std::string name;
  std::int64_t features = 0;
  std::int64_t units = 0;
};
enum class Bias : bool { no, yes };
struct LinearSpec {
  WeightPartition partition = WeightPartition::replicated;
  Bias bias = Bias::no;
  bool tied = false;  ///< the weight is the embedding's
};

/// Each takes the block to write into and the operator's name, and returns the operator's output.
namespace ops {

TensorId embedding(BlockBuilder& block, const std::string& name, TensorId ids, std::int64_t vocabulary,
                   std::int64_t features, Tied tied = Tied::no);
/// Adds a learned vector per position (or token type) from a table of `positions` rows.
TensorId position_embedding(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t positions);

std::vector<TensorId> linear(BlockBuilder& block, const std::string& name, TensorId x,
                             const std::vector<LinearOutput>& outputs, LinearSpec spec);
TensorId linear(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t features, LinearSpec spec);
/// [.., m, k] x [.., k, n]; both operands are activations.
TensorId batched_matmul(BlockBuilder& block, const std::string& name, TensorId a, TensorId b);
TensorId attention(BlockBuilder& block, const std::string& name, TensorId query, TensorId key, TensorId value,
                   AttentionAttributes attributes);

/// `kind`: of a norm of tokens.
TensorId norm(BlockBuilder& block, const std::string& name, OpKind kind, TensorId x);
/// A norm over the last `features` of each head (query/key norm): its parameters are `features` wide.
TensorId head_norm(BlockBuilder& block, const std::string& name, OpKind kind, TensorId x, std::int64_t features);

TensorId activation(BlockBuilder& block, const std::string& name, TensorId x);
/// act(gate) * up; a gate one feature wide is multiplied with every feature of up.
TensorId gated_activation(BlockBuilder& block, const std::string& name, TensorId gate, TensorId up,
                          GateLimits limits = GateLimits::no);
TensorId rotary(BlockBuilder& block, const std::string& name, TensorId x,
                RotaryMagnitude magnitude = RotaryMagnitude::kept);
TensorId dropout(BlockBuilder& block, const std::string& name, TensorId x);
TensorId softmax(BlockBuilder& block, const std::string& name, TensorId x);
TensorId add(BlockBuilder& block, const std::string& name, TensorId a, TensorId b);

/// Joins along the last dimension (along channels for images).
TensorId concatenate(BlockBuilder& block, const std::string& name, const std::vector<TensorId>& parts);
/// A slice or new view of x with the given shape.
TensorId select(BlockBuilder& block, const std::string& name, TensorId x, Shape shape,
                Partition partition = Partition::sequence);
/// Mean cross-entropy of logits [.., classes] against labels; returns the loss.
TensorId cross_entropy(BlockBuilder& block, const std::string& name, TensorId logits, TensorId labels,
                       std::int64_t classes);

}  // namespace ops
}  // namespace plumbline
