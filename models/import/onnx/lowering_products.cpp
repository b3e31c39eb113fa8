// Matrix products, convolutions and attention.
#include <algorithm>

#include "core/base/errors.h"
#include "models/import/onnx/lowering_context.h"

namespace plumbline::onnx {
namespace {

Shape leading(const Shape& shape, std::size_t dropped) {
  return {shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(dropped)};
}

Dimension merged(const LoweringContext& context, int value, const Shape& shape) {
  const auto all = product(shape);
  if (!all) context.refuse(value, "multiplies dimensions that both grow with the batch", "one that does");
  return *all;
}

/// The only reader of a product's result, where it adds a vector of parameters as long as the rows: the bias.
const FlatNode* bias_after(const LoweringContext& context, int value) {
  const std::vector<int>& readers = context.provenance().consumers[static_cast<std::size_t>(value)];
  const auto& outputs = context.flat().outputs;
  if (readers.size() != 1 || std::find(outputs.begin(), outputs.end(), value) != outputs.end()) return nullptr;
  const FlatNode& node = context.flat().nodes[static_cast<std::size_t>(readers.front())];
  if (node.node->type != "Add" || node.inputs.size() != 2) return nullptr;
  const int other = node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
  if (!context.provenance().is(other, Origin::parameter) || context.dims(value).empty()) return nullptr;
  return context.elements(other) == context.dims(value).back() ? &node : nullptr;
}

/// x [.., k] by parameters: [.., n].
void lower_linear(LoweringContext& context, const FlatNode& node, int x, const Shape& x_shape, std::int64_t k) {
  const int result = node.outputs.front();
  const Shape shape = context.shape(result);
  Shape rows = leading(x_shape, 1);
  Shape made = rows;
  const Dimension width = fixed_dimension(std::max<std::int64_t>(
      1, context.elements(result) / std::max<std::int64_t>(1, element_count(rows, {first_batch, 1}))));
  made.push_back(width);
  std::vector<int> parameters = context.parameters(node);
  const FlatNode* bias = bias_after(context, result);
  if (bias != nullptr) {
    const std::vector<int> more = context.parameters(*bias);
    parameters.insert(parameters.end(), more.begin(), more.end());
  }
  const int input = context.tensor_as(x, x_shape);
  int y = context.out().add(OpKind::linear, node.node->name, {input}, made,
                            LinearAttributes{k, WeightPartition::replicated}, std::move(parameters));
  y = context.out().view(y, shape);
  context.set_tensor(result, y);
  if (bias != nullptr)
    context.set_tensor(bias->outputs.front(), context.out().view(y, context.shape(bias->outputs.front())));
}

/// Ranks made equal by leading ones, and a's leading dimensions those of the result.
void lower_batched(LoweringContext& context, const FlatNode& node, Shape a, Shape b, const Shape& result) {
  while (b.size() < result.size()) b.insert(b.begin(), fixed_dimension(1));
  Shape full = leading(result, 2);
  full.push_back(a[a.size() - 2]);
  full.push_back(a.back());
  const int left = context.tensor_as(node.inputs[0], full);
  const int right = context.tensor_as(node.inputs[1], b);
  const int y =
      context.out().add(OpKind::batched_matmul, node.node->name, {left, right}, result, {}, context.parameters(node));
  context.set_tensor(node.outputs.front(), context.out().view(y, context.shape(node.outputs.front())));
}

Shape swapped(Shape shape, bool yes) {
  if (yes && shape.size() > 1) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

/// Labels by what a product does with them.
struct EinsumShapes {
  Shape batch, m, n, k;
};

EinsumShapes einsum_shapes(const LoweringContext& context, const FlatNode& node, const EinsumTerms& terms) {
  const Shape a = context.shape(node.inputs[0]);
  const Shape b = context.shape(node.inputs[1]);
  EinsumShapes shapes;
  for (const auto& [label, size] : terms.sizes) {
    const std::size_t in_a = terms.inputs[0].find(label);
    const std::size_t in_b = terms.inputs[1].find(label);
    const bool is_out = terms.output.find(label) != std::string::npos;
    const Dimension dim = in_a != std::string::npos ? a[in_a] : b[in_b];
    if (in_a != std::string::npos && in_b != std::string::npos)
      (is_out ? shapes.batch : shapes.k).push_back(dim);
    else
      (in_a != std::string::npos ? shapes.m : shapes.n).push_back(dim);
  }
  return shapes;
}

void lower_einsum(LoweringContext& context, const FlatNode& node) {
  const int result = node.outputs.front();
  if (node.inputs.size() != 2) {
    context.set_tensor(result, context.out().add(OpKind::upsample, node.node->name, {context.tensor(node.inputs[0])},
                                                 context.shape(result), {}, context.parameters(node)));
    return;
  }
  const Value a{type_float, context.dims(node.inputs[0]), std::nullopt};
  const Value b{type_float, context.dims(node.inputs[1]), std::nullopt};
  const EinsumTerms terms = einsum_terms(Call{*node.node, context.flat().opset, {&a, &b}, {}});
  const EinsumShapes s = einsum_shapes(context, node, terms);
  const auto one = [&](const Shape& shape) { return merged(context, result, shape); };
  const bool second_is_weight = context.provenance().is(node.inputs[1], Origin::parameter);
  if (second_is_weight || context.provenance().is(node.inputs[0], Origin::parameter)) {
    Shape rows = s.batch;
    const Shape& free = second_is_weight ? s.m : s.n;
    rows.insert(rows.end(), free.begin(), free.end());
    rows.push_back(one(s.k));
    return lower_linear(context, node, node.inputs[second_is_weight ? 0 : 1], rows, one(s.k).factor);
  }
  lower_batched(context, node, {one(s.batch), one(s.m), one(s.k)}, {one(s.batch), one(s.k), one(s.n)},
                {one(s.batch), one(s.m), one(s.n)});
}

/// An attention of [batch, tokens, heads * width] tensors.
void add_attention(LoweringContext& context, const FlatNode& node, const std::array<int, 3>& tensors,
                   const AttentionAttributes& a, const std::array<Dimension, 3>& batch_queries_keys) {
  const auto& [batch, queries, keys] = batch_queries_keys;
  LoweredGraph& out = context.out();
  const int q = out.view(tensors[0], {batch, queries, fixed_dimension(a.heads * a.qk_head_dim)});
  const int k = out.view(tensors[1], {batch, keys, fixed_dimension(a.kv_heads * a.qk_head_dim)});
  const int v = out.view(tensors[2], {batch, keys, fixed_dimension(a.kv_heads * a.v_head_dim)});
  const int y = out.add(OpKind::attention, node.node->name, {q, k, v},
                        {batch, queries, fixed_dimension(a.heads * a.v_head_dim)}, a);
  context.set_tensor(node.outputs.front(), out.view(y, context.shape(node.outputs.front())));
}

std::int64_t at_least_one(std::int64_t value) { return std::max<std::int64_t>(1, value); }

}  // namespace

void lower_product(LoweringContext& context, const FlatNode& node) {
  const Node& n = *node.node;
  if (n.type == "Einsum") return lower_einsum(context, node);
  const bool first_is_weight = context.provenance().is(node.inputs[0], Origin::parameter);
  const bool second_is_weight = context.provenance().is(node.inputs[1], Origin::parameter) || n.type == "MatMulNBits";
  const Shape result = context.shape(node.outputs.front());
  Shape a = swapped(context.shape(node.inputs[0]), n.integer("transA", 0) != 0);
  Shape b = swapped(context.shape(node.inputs[1]), n.integer("transB", 0) != 0);
  if (second_is_weight) {
    const std::int64_t k = a.back().factor;
    const bool is_stacked = context.dims(node.inputs[1]).size() > 2 && n.type != "MatMulNBits";
    if (is_stacked && result.size() > 1) a = result, a.back() = fixed_dimension(k);  // rows for each of the weights
    return lower_linear(context, node, node.inputs[0], a, k);
  }
  if (first_is_weight) {  // [m, k] parameters by [.., k, n]: rows are columns
    const Shape rows = swapped(b, true);
    return lower_linear(context, node, node.inputs[1], rows, rows.back().factor);
  }
  if (a.size() == 1) a.insert(a.begin(), fixed_dimension(1));
  if (b.size() == 1) b.push_back(fixed_dimension(1));
  Shape full = result;
  if (full.size() < 2) full = {fixed_dimension(1), full.empty() ? fixed_dimension(1) : full.front()};
  if (full.size() < std::max(a.size(), b.size())) full.insert(full.end() - 1, a[a.size() - 2]);
  lower_batched(context, node, a, b, full);
}

void lower_convolution(LoweringContext& context, const FlatNode& node) {
  const Dims& weight = context.dims(node.inputs[1]);
  Shape in = context.shape(node.inputs[0]);
  Shape out = context.shape(node.outputs.front());
  const auto as_image = [&](Shape shape) {
    Shape image(shape.begin(), shape.begin() + 2);
    image.push_back(merged(context, node.outputs.front(), {shape.begin() + 2, shape.end() - 1}));
    image.push_back(shape.back());
    return image;
  };
  std::int64_t rows = 1;
  for (std::size_t i = 2; i + 1 < weight.size(); ++i) rows *= weight[i];
  ConvolutionAttributes a;
  a.groups = node.node->integer("group", 1);
  a.in_channels = in[1].factor;
  a.out_channels = out[1].factor;
  a.kernel_height = rows;
  a.kernel_width = weight.back();
  const int y =
      context.out().add(OpKind::convolution, node.node->name, {context.tensor_as(node.inputs[0], as_image(in))},
                        as_image(out), a, context.parameters(node));
  context.set_tensor(node.outputs.front(), context.out().view(y, out));
}

/// Every element of the input times a kernel, and the overlapping parts summed: a linear and a copy.
void lower_transposed_convolution(LoweringContext& context, const FlatNode& node) {
  const Shape in = context.shape(node.inputs[0]);
  const Dims& weight = context.dims(node.inputs[1]);
  const Dimension positions = merged(context, node.inputs[0], {in.begin() + 2, in.end()});
  const std::int64_t made = context.elements(node.inputs[1]) / at_least_one(weight[0]);
  const int x = context.tensor_as(node.inputs[0], {in[0], positions, in[1]});
  const int y =
      context.out().add(OpKind::linear, node.node->name, {x}, {in[0], positions, fixed_dimension(made)},
                        LinearAttributes{in[1].factor, WeightPartition::replicated}, context.parameters(node));
  const int sum =
      context.out().add(OpKind::upsample, node.node->name + ".sum", {y}, context.shape(node.outputs.front()));
  context.set_tensor(node.outputs.front(), sum);
}

void lower_attention(LoweringContext& context, const FlatNode& node) {
  const Shape q = context.shape(node.inputs[0]);
  const bool packed = node.node->domain == "com.microsoft" && node.node->type == "Attention";
  if (packed) {
    const std::int64_t width = context.dims(node.inputs[1]).back() / 3;
    const std::int64_t heads = at_least_one(node.node->integer("num_heads", 1));
    if (width % heads != 0) context.refuse(node.outputs[0], "its heads do not divide its width", "a divisor");
    const int x = context.tensor_as(node.inputs[0], q);
    const int all =
        context.out().add(OpKind::linear, node.node->name + ".qkv", {x}, {q[0], q[1], fixed_dimension(3 * width)},
                          LinearAttributes{q[2].factor, WeightPartition::replicated}, context.parameters(node));
    return add_attention(context, node, {all, all, all}, {heads, heads, width / heads, width / heads, false},
                         {q[0], q[1], q[1]});
  }
  const Shape k = context.shape(node.inputs[1]);
  const Shape v = context.shape(node.inputs[2]);
  const bool has_heads_apart = q.size() == 4;
  const std::int64_t stated = node.node->integer("q_num_heads", node.node->integer("num_heads", 1));
  const std::int64_t heads = at_least_one(has_heads_apart ? q[1].factor : stated);
  const std::int64_t kv = at_least_one(has_heads_apart ? k[1].factor : node.node->integer("kv_num_heads", stated));
  const std::int64_t parts = has_heads_apart ? 1 : heads;
  AttentionAttributes a;
  a.heads = heads;
  a.kv_heads = kv;
  a.qk_head_dim = q.back().factor / parts;
  a.v_head_dim = v.back().factor / (has_heads_apart ? 1 : kv);
  a.causal = node.node->integer("is_causal", node.node->type == "GroupQueryAttention" ? 1 : 0) != 0;
  add_attention(context, node,
                {context.tensor(node.inputs[0]), context.tensor(node.inputs[1]), context.tensor(node.inputs[2])}, a,
                {q[0], q[q.size() - 2], k[k.size() - 2]});
}

void lower_fused_attention(LoweringContext& context, const FlatNode& node, const FusedAttention& fused) {
  const Shape q = context.shape(fused.query);
  const Shape v = context.shape(fused.value);
  AttentionAttributes a;
  a.heads = a.kv_heads = q[1].factor;
  a.qk_head_dim = q[3].factor;
  a.v_head_dim = v[3].factor;
  a.causal = false;
  add_attention(context, node, {context.tensor(fused.query), context.tensor(fused.key), context.tensor(fused.value)}, a,
                {q[0], q[2], v[2]});
}

}  // namespace plumbline::onnx
