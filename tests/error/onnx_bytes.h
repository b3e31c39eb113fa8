#pragma once
/// \file onnx_bytes.h: ONNX files written field by field, right and wrong, for tests.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline::onnx_bytes {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  while (value > 127) bytes += static_cast<char>((value & 127U) | 128U), value >>= 7U;
  return bytes + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
inline std::string bytes(unsigned field, std::string_view text) {
  return varint(field << 3U | 2U) + varint(text.size()) + std::string(text);
}

/// A dimension: a size, or a symbol.
struct Dim {
  std::int64_t size = 0;
  std::string symbol = {};
};
inline std::string value(std::string_view name, const std::vector<Dim>& dims, int type = 1) {
  std::string shape;
  for (const Dim& d : dims)
    shape += bytes(1, d.symbol.empty() ? number(1, static_cast<std::uint64_t>(d.size)) : bytes(2, d.symbol));
  const std::string tensor = number(1, static_cast<std::uint64_t>(type)) + bytes(2, shape);
  return bytes(1, name) + bytes(2, bytes(1, tensor));
}
inline std::string tensor(std::string_view name, const std::vector<std::int64_t>& dims, std::string_view raw = "",
                          int type = 1) {
  std::string text;
  for (const std::int64_t d : dims) text += number(1, static_cast<std::uint64_t>(d));
  text += number(2, static_cast<std::uint64_t>(type)) + bytes(8, name);
  return raw.empty() ? text : text + bytes(9, raw);
}
inline std::string integers(std::string_view name, const std::vector<std::int64_t>& values) {
  std::string raw;
  for (const std::int64_t v : values)
    for (unsigned i = 0; i < 8; ++i) raw += static_cast<char>(static_cast<std::uint64_t>(v) >> (8 * i));
  return tensor(name, {static_cast<std::int64_t>(values.size())}, raw, 7);
}
inline std::string node(std::string_view type, const std::vector<std::string>& in, const std::vector<std::string>& out,
                        std::string_view attributes = "", std::string_view domain = "") {
  std::string text;
  for (const std::string& i : in) text += bytes(1, i);
  for (const std::string& o : out) text += bytes(2, o);
  text += bytes(3, std::string(type) + "_node") + bytes(4, type);
  if (!domain.empty()) text += bytes(7, domain);
  return text + std::string(attributes);
}
inline std::string attribute(std::string_view name, std::int64_t integer) {
  return bytes(5, bytes(1, name) + number(3, static_cast<std::uint64_t>(integer)));
}
inline std::string attribute(std::string_view name, const std::vector<std::int64_t>& list) {
  std::string text = bytes(1, name);
  for (const std::int64_t i : list) text += number(8, static_cast<std::uint64_t>(i));
  return bytes(5, text);
}

struct Parts {
  std::vector<std::string> nodes;
  std::vector<std::string> initializers;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> values = {};
  std::vector<std::string> functions = {};
};
inline std::string model(const Parts& parts) {
  std::string graph;
  for (const std::string& n : parts.nodes) graph += bytes(1, n);
  for (const std::string& i : parts.initializers) graph += bytes(5, i);
  for (const std::string& i : parts.inputs) graph += bytes(11, i);
  for (const std::string& o : parts.outputs) graph += bytes(12, o);
  for (const std::string& v : parts.values) graph += bytes(13, v);
  std::string all = number(1, 9) + bytes(8, number(2, 17)) + bytes(7, graph);
  for (const std::string& f : parts.functions) all += bytes(25, f);
  return all;
}

/// x [batch, 6] by w [6, 5].
inline Parts one_product() {
  return {
      {node("MatMul", {"x", "w"}, {"y"})}, {tensor("w", {6, 5})}, {value("x", {{0, "batch"}, {6}})}, {value("y", {})}};
}

}  // namespace plumbline::onnx_bytes
