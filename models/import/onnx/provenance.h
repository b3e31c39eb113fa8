#pragma once
/// \file provenance.h: of every value of an ONNX graph, what it is made from, which decides what training does with it.
///
/// Model: a floating-point initializer is a parameter unless it is a statistic of a batch norm, a single number, has
/// the name of a buffer (`inv_freq`), or the name that an exporter gives to what it computed (`val_12`) and multiplies
/// nothing. What is made from parameters alone is still parameters (a transposed weight); what depends on inputs but on
/// no parameter is data (masks, positions); what depends on both is an activation and carries a gradient. Whole numbers
/// and truths carry none. Source: the operators' specification; names as PyTorch 2.15 writes them. Not modelled:
/// buffers with other names: the file does not tell them from parameters. Checked against:
/// tests/reference/onnx_test.cpp (parameters of eight networks, exact).

#include "models/import/onnx/infer.h"

namespace plumbline::onnx {

enum class Origin : std::uint8_t { constant, parameter, data, activation };

struct Provenance {
  std::vector<Origin> origin;                ///< by value
  std::vector<std::vector<int>> parameters;  ///< by value: the initializers that it is made of
  std::vector<int> producer;                 ///< by value: the node; -1: none
  std::vector<std::vector<int>> consumers;   ///< by value: the nodes, each once
  /// By value: the activation that elementwise work alone makes it from; itself where there is none or several.
  std::vector<int> root;

  [[nodiscard]] bool is(int value, Origin o) const {
    return value >= 0 && origin[static_cast<std::size_t>(value)] == o;
  }
  [[nodiscard]] int root_of(int value) const { return root[static_cast<std::size_t>(value)]; }
};

[[nodiscard]] Provenance provenance(const FlatGraph& graph, const std::vector<Value>& values);
/// The initializers that are parameters and are read by something.
[[nodiscard]] std::vector<int> parameters(const Provenance& p);

}  // namespace plumbline::onnx
