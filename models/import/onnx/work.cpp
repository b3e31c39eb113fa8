#include "models/import/onnx/work.h"

#include <algorithm>
#include <map>

namespace plumbline::onnx {
namespace {

// Per element; "FLOP table" of rules that profilers use, see work.h.
constexpr double per_normalized = 7;
constexpr double per_softmax = 5;

struct Seen {
  const FlatNode& node;
  const std::vector<Value>& values;

  const Value& in(std::size_t i) const { return values[static_cast<std::size_t>(node.inputs.at(i))]; }
  const Value& out() const { return values[static_cast<std::size_t>(node.outputs.at(0))]; }
  double out_elements() const { return static_cast<double>(out().elements()); }
  double in_elements() const { return static_cast<double>(in(0).elements()); }
};

/// Elements of a weight for each of its first dimension.
double per_first(const Value& weight) {
  return static_cast<double>(weight.elements()) / static_cast<double>(std::max<std::int64_t>(1, weight.dims.at(0)));
}

double attention_flops(const Seen& s) {
  const Value& query = s.in(0);
  if (s.node.node->domain == "com.microsoft" && s.node.node->type == "Attention") {
    const double tokens = static_cast<double>(query.dims[0]) * static_cast<double>(query.dims[1]);
    const auto width = static_cast<double>(s.in(1).dims.back());
    return 2 * tokens * static_cast<double>(query.dims[2]) * width +
           4 * tokens * static_cast<double>(query.dims[1]) * width / 3;
  }
  const Value& key = s.in(1);
  const auto keys = static_cast<double>(key.dims[key.dims.size() - 2]);
  return 2 * keys * (static_cast<double>(query.elements()) + s.out_elements());
}

double einsum_flops(const FlatGraph& graph, const Seen& s) {
  if (s.node.inputs.size() != 2) return 0;  // a sum or a transpose
  Call call{*s.node.node, graph.opset, {&s.in(0), &s.in(1)}, {}};
  double product = 2;
  for (const auto& [label, size] : einsum_terms(call).sizes) product *= static_cast<double>(size);
  return product;
}

double product_flops(const FlatGraph& graph, const Seen& s) {
  const Node& node = *s.node.node;
  if (node.type == "Einsum") return einsum_flops(graph, s);
  const Dims& a = s.in(0).dims;
  const bool is_transposed = node.integer("transA", 0) != 0 && a.size() > 1;
  return 2 * s.out_elements() * static_cast<double>(is_transposed ? a[a.size() - 2] : a.back());
}

double pooling_flops(const Seen& s) {
  const auto* kernel = s.node.node->integers("kernel_shape");
  if (kernel == nullptr) return s.in_elements();
  double window = 1;
  for (const std::int64_t k : *kernel) window *= static_cast<double>(k);
  return window * s.out_elements();
}

double flops(const FlatGraph& graph, const Seen& s) {
  switch (s.node.kind->role) {
    case Role::product: return product_flops(graph, s);
    case Role::convolution: return 2 * s.out_elements() * per_first(s.in(1));
    case Role::transposed_convolution: return 2 * s.in_elements() * per_first(s.in(1));
    case Role::attention: return attention_flops(s);
    case Role::normalization: return per_normalized * s.in_elements();
    case Role::softmax: return per_softmax * s.in_elements();
    case Role::pooling: return pooling_flops(s);
    case Role::reduce:
    case Role::loss: return s.in_elements();
    case Role::add:
    case Role::multiply:
    case Role::unary:
    case Role::dropout: return s.out_elements();
    default: return 0;
  }
}

/// Bytes of values from where they are made to where they are last read.
class Liveness {
 public:
  Liveness(const FlatGraph& graph, const std::vector<Value>& values, const Provenance& p)
      : graph_(graph), values_(values), p_(p), holder_(values.size()), last_(values.size(), -1) {
    const auto end = static_cast<int>(graph.nodes.size());
    for (std::size_t i = 0; i < holder_.size(); ++i) holder_[i] = static_cast<int>(i);
    for (int n = 0; n < end; ++n) {
      const FlatNode& node = graph.nodes[at(n)];
      const bool is_view = node.kind != nullptr && node.kind->role == Role::view && !node.inputs.empty();
      if (is_view && node.inputs[0] >= 0 && is_same_type(node))
        holder_[at(node.outputs[0])] = holder_[at(node.inputs[0])];
      for (const int input : node.inputs)
        if (input >= 0) last_[at(holder_[at(input)])] = n;
    }
    for (const int output : graph.outputs) last_[at(holder_[at(output)])] = end;
  }

  Bytes peak() const {
    std::int64_t live = 0;
    for (const int input : graph_.inputs) live += held(input);
    std::int64_t most = live;
    std::vector<std::vector<int>> ends(graph_.nodes.size() + 1);
    for (std::size_t v = 0; v < values_.size(); ++v)
      if (last_[v] >= 0) ends[at(last_[v])].push_back(static_cast<int>(v));
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const int output : graph_.nodes[n].outputs) live += held(output);
      most = std::max(most, live);
      for (const int output : graph_.nodes[n].outputs)
        if (last_[at(output)] < 0) live -= held(output);
      for (const int v : ends[n]) live -= held(v);
    }
    return Bytes(most);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  bool is_same_type(const FlatNode& node) const {
    return values_[at(node.inputs[0])].type == values_[at(node.outputs[0])].type;
  }
  std::int64_t held(int value) const {
    if (holder_[at(value)] != value || p_.is(value, Origin::constant) || p_.is(value, Origin::parameter)) return 0;
    const Value& v = values_[at(value)];
    return std::min<std::int64_t>(v.elements() * bits_of(v.type) / 8, 1LL << 50);
  }

  const FlatGraph& graph_;
  const std::vector<Value>& values_;
  const Provenance& p_;
  std::vector<int> holder_;
  std::vector<int> last_;
};

}  // namespace

Flops node_flops(const FlatGraph& graph, const FlatNode& node, const std::vector<Value>& values) {
  if (node.kind == nullptr || node.outputs.empty() || node.inputs.empty() || node.inputs[0] < 0) return Flops(0);
  return Flops(flops(graph, Seen{node, values}));
}

Work work_of(const FlatGraph& graph, const std::vector<Value>& values, const Provenance& p) {
  Work work;
  std::map<std::string, std::int64_t> unknown;
  for (const FlatNode& node : graph.nodes) {
    if (node.kind == nullptr) {
      ++unknown[node.node->full_type()];
      continue;
    }
    if (node.outputs.empty() || p.is(node.outputs[0], Origin::constant)) continue;
    work.flops[static_cast<std::size_t>(class_of(node.kind->role))] += node_flops(graph, node, values);
  }
  for (const auto& [type, count] : unknown) work.unknown.push_back({type, count});
  work.peak = Liveness(graph, values, p).peak();
  return work;
}

}  // namespace plumbline::onnx
