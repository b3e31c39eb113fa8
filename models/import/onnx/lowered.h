#pragma once
/// \file lowered.h: a flat list of the Graph IR's operators, in order of execution, before it is cut into blocks.

#include <optional>

#include "core/graph/op.h"

namespace plumbline::onnx {

struct LoweredTensor {
  std::string name;
  Shape shape;
  ElementKind element = ElementKind::compute;
  int producer = -1;  ///< op; -1: data that the feed supplies
};

struct LoweredOp {
  OpKind kind = OpKind::add;
  std::string name;
  OpAttributes attributes;
  std::vector<int> inputs;
  std::vector<int> outputs;
  std::vector<int> parameters;  ///< initializers
};

/// Elements as one dimension: constants times at most one symbol. Nothing: a product of two symbols.
[[nodiscard]] std::optional<Dimension> product(const Shape& shape);

class LoweredGraph {
 public:
  [[nodiscard]] const std::vector<LoweredTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<LoweredOp>& ops() const { return ops_; }
  [[nodiscard]] const Shape& shape(int tensor) const { return tensors_[static_cast<std::size_t>(tensor)].shape; }
  [[nodiscard]] LoweredOp& producer(int tensor) {
    return ops_[static_cast<std::size_t>(tensors_[static_cast<std::size_t>(tensor)].producer)];
  }

  /// Both throw InputError for a tensor of more than 10^15 elements.
  int add_data(std::string name, Shape shape, ElementKind element);
  /// An op with one output.
  int add(OpKind kind, const std::string& name, std::vector<int> inputs, Shape shape, OpAttributes attributes = {},
          std::vector<int> parameters = {});
  /// The tensor with another shape: itself, or a select.
  int view(int tensor, const Shape& shape);

 private:
  int add_tensor(LoweredTensor tensor);

  std::vector<LoweredTensor> tensors_;
  std::vector<LoweredOp> ops_;
};

}  // namespace plumbline::onnx
