#pragma once
/// \file lowering_context.h: what the parts of lowering.h share: values with their shapes and what became of them.

#include "models/import/onnx/lowering.h"

namespace plumbline::onnx {

/// A product of probabilities and values that stands for a whole attention.
struct FusedAttention {
  int query = -1;
  int key = -1;  ///< transposed: [.., head, keys]
  int value = -1;
};

class LoweringContext {
 public:
  LoweringContext(const FlatGraph& graph, const Sampled& sampled, const Provenance& p);

  [[nodiscard]] const FlatGraph& flat() const { return flat_; }
  [[nodiscard]] const Provenance& provenance() const { return p_; }
  [[nodiscard]] LoweredGraph& out() { return out_; }
  [[nodiscard]] bool is_activation(int value) const { return p_.is(value, Origin::activation); }
  [[nodiscard]] Shape shape(int value) const;
  [[nodiscard]] std::int64_t elements(int value) const {
    return sampled_.first[static_cast<std::size_t>(value)].elements();
  }
  [[nodiscard]] const Dims& dims(int value) const { return sampled_.first[static_cast<std::size_t>(value)].dims; }
  [[nodiscard]] const std::string& name(int value) const { return flat_.names[static_cast<std::size_t>(value)]; }
  [[nodiscard]] const FlatNode* producer(int value) const;
  /// Of the inputs that are parameters; from the input `first` on.
  [[nodiscard]] std::vector<int> parameters(const FlatNode& node, std::size_t first = 0) const;

  /// The tensor that a value is; made where it is pending (elementwise work on its root) or data.
  int tensor(int value);
  [[nodiscard]] bool has_tensor(int value) const { return tensors_[static_cast<std::size_t>(value)] >= 0; }
  void set_tensor(int value, int tensor);
  /// Of `shape`, whatever it takes: itself, a view, or a broadcast.
  int tensor_as(int value, const Shape& shape) { return out_.view(tensor(value), shape); }
  [[noreturn]] void refuse(int value, const std::string& what, const std::string& expected) const;

 private:
  int pending(int value);

  const FlatGraph& flat_;
  const Sampled& sampled_;
  const Provenance& p_;
  LoweredGraph out_;
  std::vector<int> tensors_;  ///< by value
};

/// What an elementwise region makes of the tensors that it reads.
struct Region {
  std::vector<int> inputs;  ///< values
  std::vector<int> parameters;
  bool reduces = false;
  bool subtracts = false;
  bool takes_root = false;
  bool multiplies_by_parameter = false;
  bool is_linear = true;
  bool only_views = true;
};
[[nodiscard]] Region region_of(const LoweringContext& context, int value);
int lower_region(LoweringContext& context, int value, const Region& region);
/// An elementwise operator of several activations.
void lower_joint(LoweringContext& context, const FlatNode& node);

void lower_product(LoweringContext& context, const FlatNode& node);
void lower_convolution(LoweringContext& context, const FlatNode& node);
void lower_transposed_convolution(LoweringContext& context, const FlatNode& node);
void lower_attention(LoweringContext& context, const FlatNode& node);
void lower_fused_attention(LoweringContext& context, const FlatNode& node, const FusedAttention& fused);

/// By node of the last product; and the nodes that are part of one.
struct Fusions {
  std::unordered_map<const FlatNode*, FusedAttention> attentions;
  std::unordered_map<const FlatNode*, bool> swallowed;
};
[[nodiscard]] Fusions find_attentions(const LoweringContext& context);

}  // namespace plumbline::onnx
