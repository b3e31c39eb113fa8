#include "models/import/onnx/lowering.h"

#include <algorithm>

#include "core/base/errors.h"
#include "models/import/onnx/lowering_context.h"

namespace plumbline::onnx {
namespace {

/// Nodes by what they are, in the order of the file.
class Driver {
 public:
  explicit Driver(LoweringContext& context) : context_(context), fusions_(find_attentions(context)) {}

  void run() {
    for (const FlatNode& node : context_.flat().nodes)
      if (makes_activation(node) && !fusions_.swallowed.contains(&node)) {
        lower_node(node);
        lower_other_outputs(node);
      }
  }

 private:
  bool makes_activation(const FlatNode& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](int v) { return context_.is_activation(v); });
  }

  void lower_node(const FlatNode& node) {
    if (const auto found = fusions_.attentions.find(&node); found != fusions_.attentions.end())
      return lower_fused_attention(context_, node, found->second);
    if (node.kind == nullptr) return lower_plain(node, OpKind::select);
    switch (node.kind->role) {
      case Role::view:
      case Role::add:
      case Role::multiply:
      case Role::unary:
      case Role::reduce: return lower_elementwise(node);
      case Role::product: return lower_product(context_, node);
      case Role::convolution: return lower_convolution(context_, node);
      case Role::transposed_convolution: return lower_transposed_convolution(context_, node);
      case Role::attention: return lower_attention(context_, node);
      case Role::gather:
        if (context_.provenance().is(node.inputs[0], Origin::parameter)) return lower_embedding(node);
        return lower_plain(node, OpKind::upsample);
      case Role::slice: return lower_plain(node, OpKind::select);
      case Role::concatenate:
      case Role::scatter: return lower_joined(node);
      case Role::normalization: return lower_norm(node);
      case Role::softmax: return lower_same(node, OpKind::softmax);
      case Role::dropout: return lower_same(node, OpKind::dropout);
      case Role::pooling: return lower_plain(node, OpKind::pooling);
      case Role::loss: return lower_loss(node);
      case Role::copy:
      case Role::shape: break;
    }
    lower_plain(node, OpKind::upsample);
  }

  /// Statistics of norms and the like: views of what the node reads.
  void lower_other_outputs(const FlatNode& node) {
    for (const int output : node.outputs) {
      const bool waits = context_.provenance().root_of(output) != output;
      if (!context_.is_activation(output) || context_.has_tensor(output) || waits) continue;
      context_.set_tensor(output, context_.out().add(OpKind::select, context_.name(output), {first_operand(node)},
                                                     context_.shape(output)));
    }
  }

  /// What has one root waits until somebody reads it.
  void lower_elementwise(const FlatNode& node) {
    const int result = node.outputs.front();
    if (context_.has_tensor(result) || context_.provenance().root_of(result) != result) return;
    lower_joint(context_, node);
  }

  int first_operand(const FlatNode& node) {
    for (const Origin origin : {Origin::activation, Origin::data})
      for (const int input : node.inputs)
        if (context_.provenance().is(input, origin)) return context_.tensor(input);
    return context_.out().add_data(node.node->name + ".data", {fixed_dimension(1)}, ElementKind::compute);
  }

  /// One op for each output, of the first operand.
  void lower_plain(const FlatNode& node, OpKind kind) {
    std::vector<int> parameters = context_.parameters(node);
    for (const int output : node.outputs) {
      if (!context_.is_activation(output)) continue;
      context_.set_tensor(output, context_.out().add(kind, context_.name(output), {first_operand(node)},
                                                     context_.shape(output), {}, parameters));
      parameters.clear();
    }
  }

  void lower_same(const FlatNode& node, OpKind kind) {
    const int result = node.outputs.front();
    const Shape shape = context_.shape(result);
    context_.set_tensor(
        result, context_.out().add(kind, context_.name(result), {context_.tensor_as(node.inputs[0], shape)}, shape, {},
                                   context_.parameters(node)));
  }

  void lower_embedding(const FlatNode& node) {
    const int result = node.outputs.front();
    context_.set_tensor(result,
                        context_.out().add(OpKind::embedding, node.node->name, {context_.tensor(node.inputs[1])},
                                           context_.shape(result), {}, context_.parameters(node)));
  }

  void lower_joined(const FlatNode& node) {
    const int result = node.outputs.front();
    std::vector<int> parts;
    for (const int input : node.inputs)
      if (context_.is_activation(input)) parts.push_back(context_.tensor(input));
    if (parts.empty()) parts.push_back(first_operand(node));
    context_.set_tensor(result, context_.out().add(OpKind::concatenate, context_.name(result), std::move(parts),
                                                   context_.shape(result), {}, context_.parameters(node)));
  }

  void lower_norm(const FlatNode& node) {
    const std::string& type = node.node->type;
    const int result = node.outputs.front();
    const Shape shape = context_.shape(result);
    const bool skips = type.starts_with("Skip");
    int x = context_.tensor_as(node.inputs[0], shape);
    if (skips)
      x = context_.out().add(OpKind::add, node.node->name + ".sum", {x, context_.tensor_as(node.inputs[1], shape)},
                             shape);
    if (skips && node.outputs.size() > 3) context_.set_tensor(node.outputs[3], x);
    std::vector<int> parameters = context_.parameters(node, skips ? 2 : 1);
    const OpKind kind = parameters.empty()             ? OpKind::activation  // no scale: priced as the same traffic
                        : type == "BatchNormalization" ? OpKind::batch_norm
                                                       : token_norm(node.kind->mean);
    context_.set_tensor(result, context_.out().add(kind, node.node->name, {x}, shape, {}, std::move(parameters)));
  }

  void lower_loss(const FlatNode& node) {
    const int result = node.outputs.front();
    const Dims& scores = context_.dims(node.inputs[0]);
    const std::int64_t classes = scores.size() > 1 ? scores[1] : 1;
    context_.set_tensor(result, context_.out().add(OpKind::cross_entropy, node.node->name,
                                                   {context_.tensor(node.inputs[0]), context_.tensor(node.inputs[1])},
                                                   {fixed_dimension(1)}, CrossEntropyAttributes{classes}));
  }

  LoweringContext& context_;
  Fusions fusions_;
};

/// A network whose first output comes from a linear ends in scores of classes; it trains by cross-entropy.
bool ends_in_scores(LoweredGraph& graph, int tensor) {
  for (int t = tensor; graph.tensors()[static_cast<std::size_t>(t)].producer >= 0;) {
    const LoweredOp& op = graph.producer(t);
    if (op.kind != OpKind::select) return op.kind == OpKind::linear && graph.shape(t).back().symbol == Symbol::constant;
    t = op.inputs.front();
    if (graph.shape(t).back() != graph.shape(tensor).back()) return false;
  }
  return false;
}

}  // namespace

LoweringContext::LoweringContext(const FlatGraph& graph, const Sampled& sampled, const Provenance& p)
    : flat_(graph), sampled_(sampled), p_(p), tensors_(graph.names.size(), -1) {}

void LoweringContext::refuse(int value, const std::string& what, const std::string& expected) const {
  throw InputError({flat_.where + ", value " + name(value).substr(0, 200), what, expected, ""});
}

Shape LoweringContext::shape(int value) const {
  const Dims& first = sampled_.first[static_cast<std::size_t>(value)].dims;
  const Dims& second = sampled_.second[static_cast<std::size_t>(value)].dims;
  if (first.size() != second.size()) refuse(value, "has another rank for another batch", "one rank");
  Shape shape;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool grows = first[i] != second[i];
    if (grows && (first[i] % first_batch != 0 || first[i] / first_batch * second_batch != second[i]))
      refuse(value,
             "has a dimension of " + std::to_string(first[i]) + " for 2 samples and of " + std::to_string(second[i]) +
                 " for 3",
             "dimensions that grow in proportion to the batch, or not at all");
    const std::int64_t factor = grows ? first[i] / first_batch : first[i];
    if (factor < 1) refuse(value, "is empty", "sizes of 1 or more; --dim binds what is open");
    shape.push_back({grows ? Symbol::batch : Symbol::constant, factor});
  }
  if (shape.empty()) shape.push_back(fixed_dimension(1));
  return shape;
}

const FlatNode* LoweringContext::producer(int value) const {
  const int node = p_.producer[static_cast<std::size_t>(value)];
  return node < 0 ? nullptr : &flat_.nodes[static_cast<std::size_t>(node)];
}

std::vector<int> LoweringContext::parameters(const FlatNode& node, std::size_t first) const {
  std::vector<int> all;
  for (std::size_t i = first; i < node.inputs.size(); ++i)
    if (p_.is(node.inputs[i], Origin::parameter))
      for (const int parameter : p_.parameters[static_cast<std::size_t>(node.inputs[i])])
        if (std::find(all.begin(), all.end(), parameter) == all.end()) all.push_back(parameter);
  return all;
}

void LoweringContext::set_tensor(int value, int tensor) { tensors_[static_cast<std::size_t>(value)] = tensor; }

int LoweringContext::tensor(int value) {
  int& tensor = tensors_[static_cast<std::size_t>(value)];
  if (tensor < 0) tensor = pending(value);
  return tensor;
}

int LoweringContext::pending(int value) {
  const bool is_float = is_floating(sampled_.first[static_cast<std::size_t>(value)].type);
  if (!is_activation(value))
    return out_.add_data(name(value), shape(value), is_float ? ElementKind::compute : ElementKind::index);
  check(p_.root_of(value) != value, "what is its own root is lowered in its place");
  return lower_region(*this, value, region_of(*this, value));
}

Lowering lower(const FlatGraph& graph, const Sampled& sampled, const Provenance& p) {
  LoweringContext context(graph, sampled, p);
  Driver(context).run();
  Lowering result;
  for (const int output : graph.outputs) {
    if (!context.is_activation(output)) continue;
    const int tensor = context.tensor(output);
    if (result.result < 0) result.result = tensor;
  }
  if (result.result < 0)
    throw InputError({graph.where, "no output depends on a parameter", "a network with floating-point weights", ""});
  LoweredGraph& out = context.out();
  result.has_loss = out.producer(result.result).kind == OpKind::cross_entropy;
  if (ends_in_scores(out, result.result)) {
    Shape labels = out.shape(result.result);
    const std::int64_t classes = labels.back().factor;
    labels.pop_back();
    if (labels.empty()) labels.push_back(fixed_dimension(1));
    const int data = out.add_data("labels", labels, ElementKind::index);
    result.result = out.add(OpKind::cross_entropy, "loss", {result.result, data}, {fixed_dimension(1)},
                            CrossEntropyAttributes{classes});
    result.has_loss = true;
  }
  result.graph = std::move(out);
  return result;
}

}  // namespace plumbline::onnx
