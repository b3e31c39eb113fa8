#pragma once
/// \file model.h: what is read of an ONNX file: the graph, its shapes and small constants; no weights.
///
/// Source: onnx/onnx.proto (IR version 13); fields that no count needs are left out.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::onnx {

/// TensorProto.DataType as the file spells it.
using DataType = std::int32_t;
inline constexpr DataType type_unknown = 0;
inline constexpr DataType type_float = 1;
inline constexpr DataType type_int64 = 7;
inline constexpr DataType type_bool = 9;
[[nodiscard]] bool is_floating(DataType type);
/// Bits of an element; 32 for what is unknown.
[[nodiscard]] std::int64_t bits_of(DataType type);

using Dims = std::vector<std::int64_t>;

/// A dimension of an input or of a value that the file states.
struct StatedDimension {
  std::optional<std::int64_t> value;
  std::string symbol;
};

struct StatedValue {
  std::string name;
  DataType type = type_unknown;
  std::optional<std::vector<StatedDimension>> shape;
};

/// A tensor in the file; its numbers only where there are few, for shapes are computed from them.
struct StoredTensor {
  std::string name;
  DataType type = type_unknown;
  Dims dims;
  std::optional<std::vector<double>> numbers;
};

struct Graph;

struct Attribute {
  std::string name;
  std::string refers_to;  ///< in functions: the attribute of the call that is meant
  std::optional<std::int64_t> integer;
  std::optional<double> number;
  std::optional<std::string> text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::shared_ptr<const StoredTensor> tensor;
  std::shared_ptr<const Graph> graph;
};

struct Node {
  std::string name;
  std::string type;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;  ///< "": absent
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;

  [[nodiscard]] const Attribute* find(std::string_view attribute) const;
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] std::string text(std::string_view attribute, std::string otherwise) const;
  [[nodiscard]] const std::vector<std::int64_t>* integers(std::string_view attribute) const;
  /// "MatMul", "com.microsoft.BiasGelu".
  [[nodiscard]] std::string full_type() const;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<StatedValue> inputs;
  std::vector<StatedValue> outputs;
  std::vector<StatedValue> values;
};

struct Function {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
};

struct Model {
  std::string producer;
  std::map<std::string, std::int64_t> opsets;  ///< by domain
  Graph graph;
  std::vector<Function> functions;
};

}  // namespace plumbline::onnx
