#include "core/graph/shape_rules.h"

#include <algorithm>

namespace plumbline {
namespace {

using Problem = std::optional<InputProblem>;

/// One op with its tensors looked up, so that the rules below read like the sentences they check.
struct View {
  const Block::Parts& parts;
  const Op& op;

  const Tensor& tensor(TensorId id) const { return parts.tensors[static_cast<std::size_t>(id.index())]; }
  const Shape& in(std::size_t i) const { return tensor(op.inputs[i]).shape; }
  const Shape& out(std::size_t i) const { return tensor(op.outputs[i]).shape; }
  const Shape& parameter(std::size_t i) const { return tensor(op.parameters[i]).shape; }
  Problem wrong(const std::string& what, const std::string& expected) const {
    return InputProblem{"block " + parts.name + ", " + std::string(to_text(op.kind)) + " " + op.name, what, expected,
                        ""};
  }
};

/// One output of as many inputs as the operator's row says.
Problem check_counts(const View& v) {
  const std::size_t inputs = record_of(v.op.kind).inputs;
  if (v.op.inputs.size() != inputs || v.op.outputs.size() != 1)
    return v.wrong(
        "has " + std::to_string(v.op.inputs.size()) + " inputs and " + std::to_string(v.op.outputs.size()) + " outputs",
        std::to_string(inputs) + " and 1");
  return std::nullopt;
}

Problem same_shapes(const View& v) {
  for (const TensorId input : v.op.inputs)
    if (v.tensor(input).shape != v.out(0))
      return v.wrong("input " + v.tensor(input).name + " " + to_text(v.tensor(input).shape) + " differs from output " +
                         to_text(v.out(0)),
                     "equal shapes");
  return std::nullopt;
}

bool same_but_last(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

Problem check_linear(const View& v) {
  if (v.op.inputs.size() != 1 || v.op.outputs.empty()) return check_counts(v);
  const auto& attributes = std::get<LinearAttributes>(v.op.attributes);
  if (v.in(0).back() != fixed_dimension(attributes.in_features))
    return v.wrong("input " + to_text(v.in(0)) + " does not end in " + std::to_string(attributes.in_features),
                   "in_features last");
  for (std::size_t i = 0; i < v.op.outputs.size(); ++i)
    if (!same_but_last(v.in(0), v.out(i)))
      return v.wrong("output " + to_text(v.out(i)) + " differs from the input before its last dimension",
                     "the input's leading dimensions");
  return std::nullopt;
}

Problem check_attention(const View& v) {
  if (const Problem p = check_counts(v)) return p;
  const auto& a = std::get<AttentionAttributes>(v.op.attributes);
  if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0)
    return v.wrong(std::to_string(a.heads) + " heads over " + std::to_string(a.kv_heads) + " kv heads", "a multiple");
  const auto ends_in = [](const Shape& shape, std::int64_t size) { return shape.back() == fixed_dimension(size); };
  if (!ends_in(v.in(0), a.heads * a.qk_head_dim))
    return v.wrong("query " + to_text(v.in(0)), "heads * qk_head_dim last");
  if (!ends_in(v.in(1), a.kv_heads * a.qk_head_dim))
    return v.wrong("key " + to_text(v.in(1)), "kv_heads * qk_head_dim last");
  if (!ends_in(v.in(2), a.kv_heads * a.v_head_dim))
    return v.wrong("value " + to_text(v.in(2)), "kv_heads * v_head_dim last");
  if (!ends_in(v.out(0), a.heads * a.v_head_dim))
    return v.wrong("output " + to_text(v.out(0)), "heads * v_head_dim last");
  return std::nullopt;
}

Problem check_delta_rule(const View& v) {
  if (const Problem p = check_counts(v)) return p;
  const auto& a = std::get<DeltaRuleAttributes>(v.op.attributes);
  if (a.key_heads < 1 || a.value_heads < 1 || a.value_heads % a.key_heads != 0)
    return v.wrong(std::to_string(a.value_heads) + " value heads over " + std::to_string(a.key_heads) + " key heads",
                   "a multiple");
  const std::int64_t values = a.value_heads * a.value_head_dim;
  const std::int64_t joined = 2 * a.key_heads * a.key_head_dim + values;
  if (v.in(0).back() != fixed_dimension(joined))
    return v.wrong("input " + to_text(v.in(0)), "queries, keys and values last, " + std::to_string(joined));
  if (v.in(1).back() != fixed_dimension(2 * a.value_heads))
    return v.wrong("gates " + to_text(v.in(1)), "2 * value_heads last");
  if (v.out(0).back() != fixed_dimension(values))
    return v.wrong("output " + to_text(v.out(0)), "value_heads * value_head_dim last");
  return std::nullopt;
}

Problem check_batched_matmul(const View& v) {
  if (const Problem p = check_counts(v)) return p;
  const Shape& a = v.in(0);
  const Shape& b = v.in(1);
  if (a.size() < 2 || a.size() != b.size() || a.back() != b[b.size() - 2])
    return v.wrong(to_text(a) + " times " + to_text(b), "[.., m, k] times [.., k, n]");
  return std::nullopt;
}

Problem check_grouped_linear(const View& v) {
  if (v.op.inputs.size() != 1 || v.op.outputs.empty()) return check_counts(v);
  const auto& a = std::get<GroupedLinearAttributes>(v.op.attributes);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < v.op.outputs.size(); ++i) {
    if (!same_but_last(v.in(0), v.out(i)))
      return v.wrong("output " + to_text(v.out(i)) + " differs from the input before its last dimension",
                     "the input's leading dimensions");
    total += v.out(i).back().factor;
  }
  if (v.in(0).back() != fixed_dimension(a.in_features) || total != a.out_features)
    return v.wrong(to_text(v.in(0)) + " to " + std::to_string(total) + " features",
                   "in_features and out_features last");
  if (a.experts < 1 || a.rows_per_token < 1 || a.rows_per_token > a.experts)
    return v.wrong(std::to_string(a.rows_per_token) + " of " + std::to_string(a.experts) + " experts",
                   "1 to all experts");
  return std::nullopt;
}

/// A gate is as wide as what it gates, or one feature wide.
Problem check_gated_activation(const View& v) {
  if (const Problem p = check_counts(v)) return p;
  const bool narrow = same_but_last(v.in(0), v.out(0)) && v.in(0).back() == fixed_dimension(1);
  if (v.in(1) == v.out(0) && (narrow || v.in(0) == v.out(0))) return std::nullopt;
  return v.wrong("gate " + to_text(v.in(0)) + " and " + to_text(v.in(1)) + " for output " + to_text(v.out(0)),
                 "equal shapes, or a gate one feature wide");
}

Problem check_convolution(const View& v) {
  if (const Problem p = check_counts(v)) return p;
  const auto& a = std::get<ConvolutionAttributes>(v.op.attributes);
  if (v.in(0).size() != 4 || v.in(0)[1] != fixed_dimension(a.in_channels))
    return v.wrong("input " + to_text(v.in(0)), "[batch, " + std::to_string(a.in_channels) + ", height, width]");
  if (a.groups < 1 || a.in_channels % a.groups != 0 || a.out_channels % a.groups != 0)
    return v.wrong(std::to_string(a.groups) + " groups", "a divisor of both channel counts");
  return std::nullopt;
}

Problem check_op(const View& v) {
  switch (v.op.kind) {
    case OpKind::linear: return check_linear(v);
    case OpKind::grouped_linear: return check_grouped_linear(v);
    case OpKind::attention: return check_attention(v);
    case OpKind::delta_rule: return check_delta_rule(v);
    case OpKind::batched_matmul: return check_batched_matmul(v);
    case OpKind::convolution: return check_convolution(v);
    case OpKind::gated_activation: return check_gated_activation(v);
    case OpKind::concatenate: return v.op.inputs.empty() ? check_counts(v) : std::nullopt;
    default: break;
  }
  if (const Problem p = check_counts(v)) return p;
  return record_of(v.op.kind).output == OutputShape::of_inputs ? same_shapes(v) : std::nullopt;
}

Problem check_tensor(const Block::Parts& parts, const Tensor& tensor) {
  const std::string where = "block " + parts.name + ", tensor " + tensor.name;
  if (tensor.shape.empty()) return InputProblem{where, "has no dimension", "at least one", ""};
  for (const Dimension& d : tensor.shape)
    if (d.factor < 1)
      return InputProblem{where, "has a dimension of " + std::to_string(d.factor), "positive dimensions", ""};
  return std::nullopt;
}

/// Ids in range, every activation written exactly once, no parameter among the flowing tensors.
Problem check_wiring(const Block::Parts& parts) {
  std::vector<int> writers(parts.tensors.size(), 0);
  const auto exists = [&](TensorId id) {
    return id.is_valid() && id.index() < static_cast<std::int32_t>(parts.tensors.size());
  };
  const auto problem = [&](const std::string& op, const std::string& what, const std::string& expected) {
    return InputProblem{"block " + parts.name + ", " + op, what, expected, ""};
  };
  const auto role = [&](TensorId id) { return parts.tensors[static_cast<std::size_t>(id.index())].role; };
  for (const Op& op : parts.ops) {
    for (const auto* ids : {&op.inputs, &op.parameters, &op.outputs})
      if (!std::all_of(ids->begin(), ids->end(), exists))
        return problem(op.name, "names a tensor that does not exist", "tensors of the block");
    for (const TensorId id : op.inputs)
      if (role(id) == TensorRole::parameter)
        return problem(op.name, "reads a parameter as input", "parameters listed apart");
    for (const TensorId id : op.parameters)
      if (role(id) != TensorRole::parameter)
        return problem(op.name, "lists an activation as parameter", "inputs listed apart");
    for (const TensorId id : op.outputs) ++writers[static_cast<std::size_t>(id.index())];
  }
  for (const auto* ids : {&parts.inputs, &parts.outputs})
    if (!std::all_of(ids->begin(), ids->end(), exists))
      return problem("boundary", "names a tensor that does not exist", "tensors of the block");
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const int expected = parts.tensors[i].role == TensorRole::activation ? 1 : 0;
    if (writers[i] != expected)
      return problem("tensor " + parts.tensors[i].name, "is written " + std::to_string(writers[i]) + " times",
                     std::to_string(expected));
  }
  return std::nullopt;
}

}  // namespace

Problem find_problem(const Block::Parts& parts) {
  for (const Tensor& tensor : parts.tensors)
    if (const Problem p = check_tensor(parts, tensor)) return p;
  if (const Problem p = check_wiring(parts)) return p;
  for (const Op& op : parts.ops)
    if (const Problem p = check_op(View{parts, op})) return p;
  return std::nullopt;
}

}  // namespace plumbline
