#pragma once
/// \file infer.h: types and dimensions of every value of an ONNX graph whose symbols are bound.
///
/// Model: nodes in the order of the file (the format asks for a topological one), each by its operator's rule
/// (operators.h); constants are computed, so that shapes made from shapes are known. An unknown operator's outputs are
/// what the file states of them. Throws InputError naming the node.
/// Checked against: tests/unit/models/import/onnx/shapes_test.cpp, tests/reference/onnx_test.cpp.

#include <map>
#include <unordered_map>

#include "models/import/onnx/operators.h"

namespace plumbline::onnx {

/// Values by number, absent inputs -1.
struct FlatNode {
  const Node* node = nullptr;
  const Operator* kind = nullptr;  ///< null: unknown
  std::vector<int> inputs;
  std::vector<int> outputs;
};

/// A model's graph with names resolved. Points into the model.
struct FlatGraph {
  std::string where;  ///< the file
  std::int64_t opset = 0;
  std::vector<std::string> names;  ///< by value
  std::vector<FlatNode> nodes;
  std::vector<int> inputs;  ///< without those that are initializers
  std::vector<const StatedValue*> input_facts;
  std::vector<int> outputs;
  std::vector<const StoredTensor*> stored;  ///< by value; null: no initializer
  std::unordered_map<int, const StatedValue*> stated;
};

/// Throws InputError where a node reads what nothing before it writes, and where a value is written twice.
[[nodiscard]] FlatGraph flatten(const Model& model, const std::string& where);

/// The symbols of the inputs, in order, each once; an unnamed one is called after its place: "images[2]".
[[nodiscard]] std::vector<std::string> symbols(const FlatGraph& graph);
[[nodiscard]] std::string symbol_of(const StatedValue& input, std::size_t axis);

/// What the symbols are in one inference. `batch_size`: instead of the first dimension of every input whose stated
/// size is `fixed_batch`.
struct Bindings {
  std::map<std::string, std::int64_t> symbols;
  std::optional<std::int64_t> fixed_batch;
  std::int64_t batch_size = 1;
};

[[nodiscard]] std::vector<Value> infer(const FlatGraph& graph, const Bindings& bindings);

}  // namespace plumbline::onnx
