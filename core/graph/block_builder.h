#pragma once
/// \file block_builder.h: writes a block op by op, inferring shapes, partitions and parameters.
///
/// Token tensors are [batch, sequence, features]. What tensor parallelism divides follows from `WeightPartition`:
/// a column linear's outputs are divided (Partition::tensor), a row linear's output and everything between blocks
/// is `sequence` (divided only when sequence parallelism is on).

#include <string>
#include <vector>

#include "core/graph/block.h"

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
enum class Tied : bool { no, yes };
struct GroupedLinearSpec {
  std::int64_t experts = 0;
  std::int64_t chosen = 0;
  WeightPartition partition = WeightPartition::column;
  Bias bias = Bias::no;
};
enum class NormKind : std::uint8_t { layer_norm, rms_norm };

class BlockBuilder {
 public:
  BlockBuilder(std::string name, BlockKind kind);

  // Values that enter and leave the block.
  TensorId input(std::string name, Shape shape, ElementKind element = ElementKind::compute,
                 Partition partition = Partition::sequence);
  /// Data that the data feed supplies to this block alone (token ids, images, labels): no block hands it over.
  TensorId constant(std::string name, Shape shape, ElementKind element);
  void output(TensorId tensor) { parts_.outputs.push_back(tensor); }

  // Operators over tokens. Each returns its output.
  TensorId embedding(std::string name, TensorId ids, std::int64_t vocabulary, std::int64_t features,
                     Tied tied = Tied::no);
  /// Adds a learned vector per position (or token type) from a table of `positions` rows.
  TensorId position_embedding(std::string name, TensorId x, std::int64_t positions);
  std::vector<TensorId> linear(std::string name, TensorId x, const std::vector<LinearOutput>& outputs, LinearSpec spec);
  TensorId linear(std::string name, TensorId x, std::int64_t features, LinearSpec spec);
  TensorId norm(std::string name, NormKind kind, TensorId x);
  /// A norm over the last `features` of each head (query/key norm): its parameters are `features` wide.
  TensorId head_norm(std::string name, NormKind kind, TensorId x, std::int64_t features);
  TensorId activation(const std::string& name, TensorId x) { return same_shape(OpKind::activation, name, {x}); }
  /// act(gate) * up; a gate one feature wide is multiplied with every feature of up.
  TensorId gated_activation(std::string name, TensorId gate, TensorId up);
  TensorId rotary(const std::string& name, TensorId x) { return same_shape(OpKind::rotary, name, {x}); }
  TensorId dropout(const std::string& name, TensorId x) { return same_shape(OpKind::dropout, name, {x}); }
  TensorId add(const std::string& name, TensorId a, TensorId b) { return same_shape(OpKind::add, name, {a, b}); }
  TensorId softmax(const std::string& name, TensorId x) { return same_shape(OpKind::softmax, name, {x}); }
  TensorId attention(std::string name, TensorId query, TensorId key, TensorId value, AttentionAttributes attributes);
  /// [.., m, k] x [.., k, n]; both operands are activations.
  TensorId batched_matmul(std::string name, TensorId a, TensorId b);
  /// Joins along the last dimension (along channels for images).
  TensorId concatenate(std::string name, const std::vector<TensorId>& parts);
  /// A slice or new view of x with the given shape.
  TensorId select(std::string name, TensorId x, Shape shape, Partition partition = Partition::sequence);
  /// Mean cross-entropy of logits [.., classes] against labels; returns the loss.
  TensorId cross_entropy(std::string name, TensorId logits, TensorId labels, std::int64_t classes);

  // Mixture of experts. The router returns the weights of the chosen experts per token.
  TensorId router(std::string name, TensorId x, std::int64_t experts, std::int64_t chosen, Bias bias = Bias::no);
  TensorId dispatch(std::string name, TensorId x, TensorId weights, std::int64_t chosen);
  /// One output per entry (gate and up of a gated expert are one operator).
  std::vector<TensorId> grouped_linear(std::string name, TensorId x, const std::vector<LinearOutput>& outputs,
                                       GroupedLinearSpec spec);
  TensorId grouped_linear(std::string name, TensorId x, std::int64_t features, GroupedLinearSpec spec);
  TensorId combine(std::string name, TensorId routed, TensorId weights, std::int64_t chosen);

  // Images [batch, channels, height, width].
  TensorId convolution(std::string name, TensorId x, ConvolutionAttributes attributes, Bias bias = Bias::no);
  TensorId batch_norm(std::string name, TensorId x);
  TensorId pooling(std::string name, TensorId x, PoolingAttributes attributes);
  TensorId upsample(std::string name, TensorId x, std::int64_t factor);

  /// A parameter of the op written last that no operator rule describes (attention sinks, class token, ...).
  void extra_parameter(std::string name, Shape shape, Partition partition = Partition::replicated,
                       std::int64_t units = 0);

  [[nodiscard]] const Tensor& tensor(TensorId id) const;
  [[nodiscard]] std::int64_t features(TensorId id) const;  ///< size of the last dimension
  /// The finished block; the builder is empty afterwards. Throws InputError when the block is not sound.
  [[nodiscard]] Block build();

 private:
  TensorId add_tensor(Tensor tensor);
  TensorId add_parameter(const std::string& name, Shape shape, Partition partition, std::int64_t units = 0);
  Op& add_op(OpKind kind, std::string name, std::vector<TensorId> inputs, OpAttributes attributes = {});
  TensorId same_shape(OpKind kind, const std::string& name, std::vector<TensorId> inputs);
  TensorId result(Op& op, Shape shape, Partition partition, std::int64_t units = 0,
                  ElementKind element = ElementKind::compute);

  Block::Parts parts_;
};

}  // namespace plumbline
