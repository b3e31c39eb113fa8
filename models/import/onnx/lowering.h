#pragma once
/// \file lowering.h: an ONNX graph as operators of the Graph IR: what estimators price.
///
/// Model: products, convolutions, norms, softmax, embeddings and attention become the operator of their name; scores,
/// softmax and the product with values become one attention; elementwise operators between one activation and what is
/// made from it alone become one operator, as a compiler fuses them and as exporters split them (GELU, RMSNorm): a norm
/// where they reduce and scale, an activation where they are not linear; the product of two activations is a gate.
/// Views are free. Kinds stand for what they cost: `rotary` for work that is linear and keeps nothing,
/// `position_embedding` for adding a parameter, `upsample` for copies of another size.
/// A mask is not read: attention is priced as if every token sees all.
/// Checked against: tests/reference/onnx_test.cpp.

#include "models/import/onnx/lowered.h"
#include "models/import/onnx/provenance.h"

namespace plumbline::onnx {

/// Inferred twice, so that dimensions that grow with the batch are told from those that do not.
struct Sampled {
  std::vector<Value> first;   ///< with `first_batch` samples
  std::vector<Value> second;  ///< with `second_batch`
};
inline constexpr std::int64_t first_batch = 2;
inline constexpr std::int64_t second_batch = 3;

struct Lowering {
  LoweredGraph graph;
  int result = -1;  ///< the first output, or the loss
  bool has_loss = false;
};
/// Throws InputError where a dimension grows with the batch, but not in proportion.
[[nodiscard]] Lowering lower(const FlatGraph& graph, const Sampled& sampled, const Provenance& p);

}  // namespace plumbline::onnx
