#include "core/graph/expert_ops.h"

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

const Shape hidden_shape = {batch_dimension, sequence_dimension, fixed_dimension(64)};

}  // namespace

TEST_CASE("A fused projection is one operator with one output and one weight per part") {
  BlockBuilder builder("layer", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  const std::vector<TensorId> qkv = ops::linear(builder, "qkv", x, {{"q", 64, 8}, {"k", 16, 2}, {"v", 16, 2}},
                                                {WeightPartition::column, Bias::yes, false});
  builder.output(qkv[0]);
  const Block block = builder.build();
  REQUIRE(block.ops().size() == 1);
  CHECK(block.ops()[0].outputs.size() == 3);
  CHECK(block.ops()[0].parameters.size() == 6);
  CHECK(block.tensor(qkv[1]).name == "qkv.k");
  CHECK(block.tensor(qkv[1]).partition == Partition::tensor);
  CHECK(block.tensor(qkv[1]).partition_units == 2);
  // 64 * (64 + 16 + 16) weights and 96 biases.
  CHECK(parameter_count(block) == 64 * 96 + 96);
}

TEST_CASE("Column products divide their outputs, row products and norms leave the sequence region") {
  BlockBuilder builder("mlp", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  const TensorId up = ops::linear(builder, "up", x, 256, {WeightPartition::column, Bias::no, false});
  const TensorId down =
      ops::linear(builder, "down", ops::activation(builder, "act", up), 64, {WeightPartition::row, Bias::yes, false});
  CHECK(builder.tensor(up).partition == Partition::tensor);
  CHECK(builder.tensor(down).partition == Partition::sequence);
  CHECK(to_text(builder.tensor(down).shape) == "[batch, sequence, 64]");
  builder.output(ops::add(builder, "residual", x, down));
  const Block block = builder.build();
  // The bias of a row product is added after the sum over ranks, so every rank holds it.
  for (const Tensor& tensor : block.tensors())
    if (tensor.name == "down.bias") CHECK(tensor.partition == Partition::replicated);
}

TEST_CASE("Experts: gate and up are one grouped product whose widths add up") {
  BlockBuilder builder("experts", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  const TensorId weights = ops::router(builder, "router", x, 8, 2);
  const TensorId routed = ops::dispatch(builder, "dispatch", x, weights, 2);
  const auto both = ops::grouped_linear(builder, "gate_up", routed, {{"gate", 128, 0}, {"up", 128, 0}},
                                        {8, 2, WeightPartition::column, Bias::no});
  const TensorId inner = ops::gated_activation(builder, "act", both[0], both[1]);
  const TensorId outer = ops::grouped_linear(builder, "down", inner, 64, {8, 2, WeightPartition::row, Bias::no});
  const TensorId y = ops::combine(builder, "combine", outer, weights, 2);
  CHECK(to_text(builder.tensor(routed).shape) == "[batch, sequence, 2, 64]");
  CHECK(builder.tensor(both[0]).partition == Partition::routed_tensor);
  CHECK(builder.tensor(outer).partition == Partition::routed);
  CHECK(builder.tensor(y).shape == hidden_shape);
  builder.output(y);
  const Block block = builder.build();
  CHECK(std::get<GroupedLinearAttributes>(block.ops()[2].attributes).out_features == 256);
  // Router 8 * 64, experts 8 * 3 * 64 * 128; a token uses two of eight.
  CHECK(parameter_count(block) == 512 + 8 * 3 * 64 * 128);
  CHECK(active_parameter_count(block) == 512 + 2 * 3 * 64 * 128);
}

TEST_CASE("A tied weight counts no parameter of its own") {
  BlockBuilder builder("head", BlockKind::output);
  const TensorId x = builder.input("hidden", hidden_shape);
  const TensorId logits = ops::linear(builder, "head", x, 1000, {WeightPartition::column, Bias::yes, true});
  const TensorId labels = builder.constant("labels", {batch_dimension, sequence_dimension}, ElementKind::index);
  builder.output(ops::cross_entropy(builder, "loss", logits, labels, 1000));
  CHECK(parameter_count(builder.build()) == 1000);  // the bias
}

TEST_CASE("A constant is no boundary input and carries no gradient") {
  BlockBuilder builder("input", BlockKind::input);
  const TensorId ids = builder.constant("ids", {batch_dimension, sequence_dimension}, ElementKind::index);
  const TensorId x = ops::embedding(builder, "embedding", ids, 100, 64);
  builder.output(x);
  const Block block = builder.build();
  CHECK(block.inputs().empty());
  CHECK_FALSE(block.carries_gradient()[static_cast<std::size_t>(ids.index())]);
  CHECK(block.carries_gradient()[static_cast<std::size_t>(x.index())]);
}

TEST_CASE("A gate one feature wide scales every feature") {
  BlockBuilder builder("gate", BlockKind::layer);
  const TensorId x = builder.input("hidden", hidden_shape);
  const TensorId gate = ops::linear(builder, "gate", x, 1, {});
  builder.output(ops::gated_activation(builder, "scaled", gate, x));
  CHECK_NOTHROW(builder.build());
}

}  // namespace plumbline
