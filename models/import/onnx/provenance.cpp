#include "models/import/onnx/provenance.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

constexpr std::size_t most_origins = 64;
constexpr std::array<std::string_view, 9> buffer_names{"running_mean", "running_var",       "num_batches_tracked",
                                                       "inv_freq",     "original_inv_freq", "position_ids",
                                                       "masked_bias",  "cos_cached",        "sin_cached"};

/// "encoder.layer.0.inv_freq" -> "inv_freq".
std::string_view last_part(std::string_view name) {
  const auto dot = name.find_last_of("./");
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

bool is_made_by_exporter(std::string_view name) {
  return name.starts_with("val_") || name.starts_with("onnx::") || name.starts_with("lifted_tensor") ||
         name.starts_with("c_lifted_tensor") || name.starts_with("_val_");
}

class Tracer {
 public:
  Tracer(const FlatGraph& graph, const std::vector<Value>& values) : graph_(graph), values_(values) {}

  Provenance trace() {
    const std::size_t count = graph_.names.size();
    p_.origin.assign(count, Origin::constant);
    p_.parameters.resize(count);
    p_.producer.assign(count, -1);
    p_.consumers.resize(count);
    p_.root.resize(count);
    for (std::size_t i = 0; i < count; ++i) p_.root[i] = static_cast<int>(i);
    connect();
    for (const int input : graph_.inputs) p_.origin[at(input)] = Origin::data;
    for (std::size_t i = 0; i < count; ++i) {
      if (graph_.stored[i] == nullptr || !is_parameter(static_cast<int>(i))) continue;
      p_.origin[i] = Origin::parameter;
      p_.parameters[i] = {static_cast<int>(i)};
    }
    for (const FlatNode& node : graph_.nodes) pass(node);
    return std::move(p_);
  }

 private:
  static std::size_t at(int value) { return static_cast<std::size_t>(value); }

  void connect() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (const int output : graph_.nodes[n].outputs) p_.producer[at(output)] = static_cast<int>(n);
      for (const int input : graph_.nodes[n].inputs)
        if (input >= 0 && (p_.consumers[at(input)].empty() || p_.consumers[at(input)].back() != static_cast<int>(n)))
          p_.consumers[at(input)].push_back(static_cast<int>(n));
    }
  }

  /// Whether every reader takes it as a statistic (inputs 3 and 4 of a batch norm), or some reader multiplies with it.
  struct Use {
    bool only_statistic = true;
    bool multiplies = false;
    bool dequantizes = false;
  };
  Use use_of(int value) const {
    Use use;
    for (const int n : p_.consumers[at(value)]) {
      const FlatNode& node = graph_.nodes[at(n)];
      const bool is_norm = node.node->type == "BatchNormalization";
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] != value) continue;
        use.only_statistic = use.only_statistic && is_norm && i >= 3;
        if (node.kind == nullptr) continue;
        const Role role = node.kind->role;
        use.dequantizes = use.dequantizes || (node.node->type == "DequantizeLinear" && i == 0) ||
                          (node.node->type == "MatMulNBits" && i == 1);
        use.multiplies = use.multiplies || role == Role::product || role == Role::convolution ||
                         role == Role::transposed_convolution || role == Role::view || role == Role::attention;
      }
    }
    return use;
  }

  bool is_parameter(int value) const {
    const StoredTensor& stored = *graph_.stored[at(value)];
    if (stored.dims.empty() || values_[at(value)].elements() == 0 || p_.consumers[at(value)].empty()) return false;
    const std::string_view name = last_part(stored.name);
    if (std::find(buffer_names.begin(), buffer_names.end(), name) != buffer_names.end()) return false;
    const Use use = use_of(value);
    if (!is_floating(stored.type)) return use.dequantizes && stored.dims.size() > 1;
    return !use.only_statistic && (!is_made_by_exporter(stored.name) || use.multiplies);
  }

  void pass(const FlatNode& node) {
    std::set<int> made_of;
    bool has_data = false;
    bool has_activation = false;
    bool has_parameter = false;
    for (const int input : node.inputs) {
      if (input < 0) continue;
      has_data = has_data || p_.is(input, Origin::data);
      has_activation = has_activation || p_.is(input, Origin::activation);
      has_parameter = has_parameter || p_.is(input, Origin::parameter);
      made_of.insert(p_.parameters[at(input)].begin(), p_.parameters[at(input)].end());
    }
    Origin origin = has_activation || (has_data && has_parameter) ? Origin::activation
                    : has_data                                    ? Origin::data
                    : has_parameter                               ? Origin::parameter
                                                                  : Origin::constant;
    if (node.kind != nullptr && node.kind->role == Role::shape) origin = Origin::constant;
    if (origin == Origin::parameter && made_of.size() > most_origins)
      throw InputError({graph_.where + ", node " + node.node->name.substr(0, 200),
                        "makes a weight from more than 64 tensors", "fewer", ""});
    for (const int output : node.outputs) set(node, output, origin, made_of);
  }

  void set(const FlatNode& node, int output, Origin origin, const std::set<int>& made_of) {
    const Value& value = values_[at(output)];
    const bool carries = is_floating(value.type);
    if (value.numbers && !carries) origin = Origin::constant;
    if (origin == Origin::activation && !carries) origin = Origin::data;
    p_.origin[at(output)] = origin;
    if (origin == Origin::parameter) p_.parameters[at(output)].assign(made_of.begin(), made_of.end());
    if (origin == Origin::activation) p_.root[at(output)] = root(node, output);
  }

  int root(const FlatNode& node, int output) const {
    if (node.kind == nullptr) return output;
    const Role role = node.kind->role;
    const bool is_elementwise = role == Role::view || role == Role::add || role == Role::multiply ||
                                role == Role::unary || role == Role::reduce;
    if (!is_elementwise || node.outputs.size() != 1) return output;
    int common = -1;
    for (const int input : node.inputs) {
      if (!p_.is(input, Origin::activation)) continue;
      if (common >= 0 && common != p_.root_of(input)) return output;
      common = p_.root_of(input);
    }
    return common < 0 ? output : common;  // data and parameters alone: made here
  }

  const FlatGraph& graph_;
  const std::vector<Value>& values_;
  Provenance p_;
};

}  // namespace

Provenance provenance(const FlatGraph& graph, const std::vector<Value>& values) {
  return Tracer(graph, values).trace();
}

std::vector<int> parameters(const Provenance& p) {
  std::vector<int> result;
  for (std::size_t i = 0; i < p.origin.size(); ++i)
    if (p.producer[i] < 0 && p.origin[i] == Origin::parameter) result.push_back(static_cast<int>(i));
  return result;
}

}  // namespace plumbline::onnx
