#pragma once
/// \file operators.h: ONNX's operators: the shapes that they make, the numbers that shapes are computed from, and what
/// kind of work each is.
///
/// Shapes are whole numbers: symbols were bound before. Source: ONNX operator specification, opsets 6 to 23 (main
/// domain), and onnxruntime's ContribOperators.md (com.microsoft).
/// Not modelled: the numbers of activations; an operator whose output's size depends on them takes it from the file.
/// Checked against: tests/unit/models/import/onnx/shapes_test.cpp, tests/reference/onnx_test.cpp.

#include <string_view>

#include "core/graph/op_kind.h"
#include "models/import/onnx/model.h"

namespace plumbline::onnx {

/// A value's type and dimensions; its numbers where it is a small constant.
struct Value {
  DataType type = type_unknown;
  Dims dims;
  std::optional<std::vector<double>> numbers;

  [[nodiscard]] std::int64_t rank() const { return static_cast<std::int64_t>(dims.size()); }
  /// At most 10^15 (every value is held against it).
  [[nodiscard]] std::int64_t elements() const;
};

/// A node with the values that it reads.
struct Call {
  const Node& node;
  std::int64_t opset = 0;
  std::vector<const Value*> inputs;  ///< null: absent
  std::vector<Value> outputs;        ///< as many as the node names

  [[nodiscard]] bool has(std::size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  /// Throws InputError when it is absent.
  [[nodiscard]] const Value& in(std::size_t input) const;
  /// Integers of an input that is a constant. Throws InputError otherwise.
  [[nodiscard]] Dims constants(std::size_t input) const;
  /// An attribute of older opsets, an input of later ones; nothing: absent.
  [[nodiscard]] std::optional<Dims> attribute_or_input(std::string_view attribute, std::size_t input) const;
  [[nodiscard]] std::size_t axis(std::int64_t axis, std::int64_t rank) const;
  void set(std::size_t output, DataType type, Dims dims);
  [[noreturn]] void refuse(const std::string& what, const std::string& expected) const;
};

/// What an operator is to those who count and price it.
enum class Role : std::uint8_t {
  shape,  ///< makes constants
  view,   ///< the same elements, another shape
  slice,  ///< part of its input; no work that counts
  copy,   ///< reads and writes
  concatenate,
  gather,  ///< rows of a table
  scatter,
  add,       ///< sums of what it reads: no input is needed for backward
  multiply,  ///< needs its inputs for backward
  unary,     ///< of one input, not linear
  reduce,
  normalization,
  softmax,
  dropout,
  product,  ///< MatMul, Gemm, Einsum
  convolution,
  transposed_convolution,
  pooling,
  attention,
  loss,
};

/// Of forward FLOPs.
enum class OperatorClass : std::uint8_t {
  matmul,
  convolution,
  attention,
  normalization,
  softmax,
  elementwise,
  pooling,
  movement
};
[[nodiscard]] std::string_view to_text(OperatorClass c);

struct Operator {
  std::string_view type;  ///< Node::full_type
  Role role;
  void (*infer)(Call&);
  NormMean mean = NormMean::subtracted;  ///< of a normalization
};
/// Null: unknown.
[[nodiscard]] const Operator* find_operator(const Node& node);
[[nodiscard]] OperatorClass class_of(Role role);

/// Dimensions that numpy's broadcasting gives two values. Throws InputError.
[[nodiscard]] Dims broadcast(const Call& call, const Dims& a, const Dims& b);

/// An Einsum's equation over its operands: the labels of each, and the size of every label.
struct EinsumTerms {
  std::vector<std::string> inputs;
  std::string output;
  std::map<char, std::int64_t> sizes;
};
[[nodiscard]] EinsumTerms einsum_terms(const Call& call);

// Rules by family; each sets every output of its call.
void infer_same(Call& call);
void infer_broadcast(Call& call);
void infer_comparison(Call& call);
void infer_where(Call& call);
void infer_cast(Call& call);
void infer_normalization(Call& call);
void infer_skip_normalization(Call& call);
void infer_loss(Call& call);
void infer_constant(Call& call);
void infer_constant_of_shape(Call& call);
void infer_shape(Call& call);
void infer_size(Call& call);
void infer_range(Call& call);
void infer_random(Call& call);
void infer_reshape(Call& call);
void infer_flatten(Call& call);
void infer_transpose(Call& call);
void infer_squeeze(Call& call);
void infer_unsqueeze(Call& call);
void infer_concat(Call& call);
void infer_split(Call& call);
void infer_slice(Call& call);
/// A sequence of equal parts is known by one of them.
void infer_split_to_sequence(Call& call);
void infer_gather(Call& call);
void infer_gather_elements(Call& call);
void infer_gather_nd(Call& call);
void infer_expand(Call& call);
void infer_tile(Call& call);
void infer_pad(Call& call);
void infer_one_hot(Call& call);
void infer_top_k(Call& call);
void infer_reduce(Call& call);
void infer_arg(Call& call);
void infer_matmul(Call& call);
void infer_gemm(Call& call);
void infer_einsum(Call& call);
void infer_matmul_n_bits(Call& call);
void infer_attention(Call& call);
void infer_multi_head_attention(Call& call);
void infer_packed_attention(Call& call);
void infer_convolution(Call& call);
void infer_transposed_convolution(Call& call);
void infer_pooling(Call& call);
void infer_global_pooling(Call& call);
void infer_resize(Call& call);
void infer_depth_to_space(Call& call);
void infer_space_to_depth(Call& call);

}  // namespace plumbline::onnx
