#include "models/import/onnx/infer.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

/// Of computed constants in a graph: shapes have some numbers each, masks thousands.
constexpr double most_elements_together = 1e16;  // their bytes are summed in 64 bits
constexpr std::size_t most_kept_numbers = 16'000'000;

class Flattener {
 public:
  Flattener(const Model& model, const std::string& where) : model_(model) { graph_.where = where; }

  FlatGraph graph() {
    const auto opset = model_.opsets.find("");
    graph_.opset = opset == model_.opsets.end() ? 0 : opset->second;
    for (const StoredTensor& tensor : model_.graph.initializers)
      graph_.stored[static_cast<std::size_t>(written(tensor.name, "initializer"))] = &tensor;
    for (const StatedValue& input : model_.graph.inputs) add_input(input);
    for (const Node& node : model_.graph.nodes) add_node(node);
    for (const StatedValue& output : model_.graph.outputs) {
      graph_.outputs.push_back(read(output.name, "the graph's output"));
      graph_.stated.emplace(graph_.outputs.back(), &output);
    }
    if (graph_.outputs.empty()) throw InputError({graph_.where, "the graph has no output", "an ONNX model", ""});
    for (const StatedValue& value : model_.graph.values)
      if (const auto found = numbers_.find(value.name); found != numbers_.end())
        graph_.stated.emplace(found->second, &value);
    return std::move(graph_);
  }

 private:
  int written(const std::string& name, const std::string& by) {
    const auto [place, is_new] = numbers_.emplace(name, static_cast<int>(graph_.names.size()));
    if (!is_new)
      throw InputError({graph_.where + ", " + by, "writes " + name.substr(0, 200) + " again", "every value once", ""});
    graph_.names.push_back(name);
    graph_.stored.push_back(nullptr);
    return place->second;
  }

  int read(const std::string& name, const std::string& by) const {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    throw InputError({graph_.where + ", " + by.substr(0, 200),
                      "reads " + name.substr(0, 200) + ", which nothing before it writes",
                      "nodes in topological order, without a cycle", ""});
  }

  void add_input(const StatedValue& input) {
    if (numbers_.contains(input.name)) return;  // an initializer's default, as old files list them
    graph_.inputs.push_back(written(input.name, "input"));
    graph_.input_facts.push_back(&input);
  }

  void add_node(const Node& node) {
    if (node.outputs.empty())
      throw InputError({graph_.where + ", node " + node.name.substr(0, 200), "writes nothing", "an output", ""});
    FlatNode flat{&node, find_operator(node), {}, {}};
    for (const std::string& input : node.inputs)
      flat.inputs.push_back(input.empty() ? -1 : read(input, "node " + node.name));
    for (const std::string& output : node.outputs)
      flat.outputs.push_back(output.empty() ? unnamed() : written(output, "node " + node.name.substr(0, 200)));
    graph_.nodes.push_back(std::move(flat));
  }

  int unnamed() {
    graph_.names.emplace_back();
    graph_.stored.push_back(nullptr);
    return static_cast<int>(graph_.names.size()) - 1;
  }

  const Model& model_;
  FlatGraph graph_;
  std::unordered_map<std::string, int> numbers_;
};

class Inference {
 public:
  Inference(const FlatGraph& graph, const Bindings& bindings)
      : graph_(graph), bindings_(bindings), values_(graph.names.size()) {}

  std::vector<Value> values() {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (const StoredTensor* stored = graph_.stored[i]) values_[i] = stored_value(*stored);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) set_input(i);
    for (const FlatNode& node : graph_.nodes) run(node);
    return std::move(values_);
  }

 private:
  Value& at(int value) { return values_[static_cast<std::size_t>(value)]; }

  /// Held against the same limits as results.
  Value stored_value(const StoredTensor& stored) const {
    Node node;
    node.name = stored.name;
    node.type = "initializer";
    Call call{node, graph_.opset, {}, std::vector<Value>(1)};
    call.set(0, stored.type, stored.dims);
    call.outputs.front().numbers = stored.numbers;
    return std::move(call.outputs.front());
  }

  std::optional<std::int64_t> bound(const StatedDimension& dim, const std::string& symbol) const {
    if (dim.value) return dim.value;
    const auto found = bindings_.symbols.find(symbol);
    if (found == bindings_.symbols.end()) return std::nullopt;
    return found->second;
  }

  void set_input(std::size_t i) {
    const StatedValue& facts = *graph_.input_facts[i];
    Node node;
    node.name = facts.name;
    node.type = "input";
    Call call{node, graph_.opset, {}, std::vector<Value>(1)};
    if (!facts.shape) call.refuse("has no shape in the file", "an export that states the inputs' dimensions");
    Dims dims;
    for (std::size_t axis = 0; axis < facts.shape->size(); ++axis) {
      const auto size = bound((*facts.shape)[axis], symbol_of(facts, axis));
      check(size.has_value(), "symbols of inputs are bound before");
      const bool is_batch = axis == 0 && bindings_.fixed_batch && *size == *bindings_.fixed_batch;
      dims.push_back(is_batch ? bindings_.batch_size : *size);
    }
    call.set(0, facts.type, std::move(dims));
    at(graph_.inputs[i]) = std::move(call.outputs.front());
  }

  void run(const FlatNode& flat) {
    Call call{*flat.node, graph_.opset, {}, std::vector<Value>(flat.outputs.size())};
    for (const int input : flat.inputs) call.inputs.push_back(input < 0 ? nullptr : &at(input));
    if (flat.kind == nullptr || !computes(flat, call)) take_stated(flat, call);
    for (std::size_t i = 0; i < flat.outputs.size(); ++i) {
      std::optional<std::vector<double>>& numbers = call.outputs[i].numbers;
      if (numbers && (kept_numbers_ += numbers->size()) > most_kept_numbers) numbers.reset();
      elements_ += static_cast<double>(call.outputs[i].elements());
      at(flat.outputs[i]) = std::move(call.outputs[i]);
    }
    if (elements_ > most_elements_together) call.refuse("is where values reach 10^16 elements together", "fewer");
  }

  /// Whether the rule knew; what depends on numbers that are not known may still be stated in the file.
  bool computes(const FlatNode& flat, Call& call) {
    try {
      flat.kind->infer(call);
      return true;
    } catch (const InputError&) {
      if (!may_be_stated(flat.kind->role) || !is_stated(flat)) throw;
    }
    return false;
  }

  /// Operators whose output's size may depend on numbers.
  static bool may_be_stated(Role role) {
    return role == Role::view || role == Role::slice || role == Role::copy || role == Role::shape;
  }

  std::optional<Dims> stated_dims(int value) const {
    const auto found = graph_.stated.find(value);
    if (found == graph_.stated.end() || !found->second->shape) return std::nullopt;
    Dims dims;
    for (const StatedDimension& dim : *found->second->shape) {
      const auto size = dim.value || !dim.symbol.empty() ? bound(dim, dim.symbol) : std::nullopt;
      if (!size) return std::nullopt;
      dims.push_back(*size);
    }
    return dims;
  }

  bool is_stated(const FlatNode& flat) const {
    return !flat.outputs.empty() && std::all_of(flat.outputs.begin(), flat.outputs.end(), [&](int output) {
      return graph_.names[static_cast<std::size_t>(output)].empty() || stated_dims(output).has_value();
    });
  }

  void take_stated(const FlatNode& flat, Call& call) {
    for (std::size_t i = 0; i < flat.outputs.size(); ++i) {
      if (graph_.names[static_cast<std::size_t>(flat.outputs[i])].empty()) continue;
      const auto dims = stated_dims(flat.outputs[i]);
      if (!dims)
        call.refuse("is an operator that is not known here, and the file states no bound shape of its output " +
                        graph_.names[static_cast<std::size_t>(flat.outputs[i])].substr(0, 100),
                    "an export with shapes (onnx.shape_inference), or --dim for each symbol of that shape");
      call.set(i, graph_.stated.at(flat.outputs[i])->type, *dims);
    }
  }

  const FlatGraph& graph_;
  const Bindings& bindings_;
  std::vector<Value> values_;
  std::size_t kept_numbers_ = 0;
  double elements_ = 0;
};

}  // namespace

FlatGraph flatten(const Model& model, const std::string& where) { return Flattener(model, where).graph(); }

std::string symbol_of(const StatedValue& input, std::size_t axis) {
  const StatedDimension& dim = (*input.shape)[axis];
  return dim.symbol.empty() ? input.name + "[" + std::to_string(axis) + "]" : dim.symbol;
}

std::vector<std::string> symbols(const FlatGraph& graph) {
  std::vector<std::string> names;
  for (const StatedValue* input : graph.input_facts)
    for (std::size_t axis = 0; input->shape && axis < input->shape->size(); ++axis) {
      if ((*input->shape)[axis].value) continue;
      const std::string name = symbol_of(*input, axis);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  return names;
}

std::vector<Value> infer(const FlatGraph& graph, const Bindings& bindings) {
  return Inference(graph, bindings).values();
}

}  // namespace plumbline::onnx
