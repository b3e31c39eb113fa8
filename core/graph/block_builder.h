#pragma once
/// \file block_builder.h: a block under construction: its values, operators and parameters, in the order of writing.
///
/// What an operator does to shapes and partitions, and which parameters it has, is said by the functions that write it:
/// token_ops.h, expert_ops.h, image_ops.h.

#include <string>
#include <vector>

#include "core/graph/block.h"

namespace plumbline {

enum class Tied : bool { no, yes };

class BlockBuilder {
 public:
  BlockBuilder(std::string name, BlockKind kind);

  // Values that enter and leave the block.
  TensorId input(std::string name, Shape shape, ElementKind element = ElementKind::compute,
                 Partition partition = Partition::sequence);
  /// Data that the data feed supplies to this block alone (token ids, images, labels): no block hands it over.
  TensorId constant(std::string name, Shape shape, ElementKind element);
  void output(TensorId tensor) { parts_.outputs.push_back(tensor); }

  /// An operator; its outputs and parameters follow.
  void add_op(OpKind kind, std::string name, std::vector<TensorId> inputs, OpAttributes attributes = {});
  /// An output of the op written last.
  TensorId add_result(std::string name, Shape shape, Partition partition, std::int64_t units = 0,
                      ElementKind element = ElementKind::compute);
  /// A parameter of the op written last: also one that no operator has by rule (attention sinks, class token, ...).
  TensorId add_parameter(std::string name, Shape shape, Partition partition = Partition::replicated,
                         std::int64_t units = 0, Tied tied = Tied::no);

  [[nodiscard]] const Tensor& tensor(TensorId id) const;
  [[nodiscard]] std::int64_t features(TensorId id) const;  ///< size of the last dimension
  /// The shape of a tensor with another size of the last dimension.
  [[nodiscard]] Shape with_features(TensorId id, std::int64_t features) const;
  /// The finished block; the builder is empty afterwards. Throws InputError when the block is not sound.
  [[nodiscard]] Block build();

 private:
  TensorId add_tensor(Tensor tensor);

  Block::Parts parts_;
};

}  // namespace plumbline
