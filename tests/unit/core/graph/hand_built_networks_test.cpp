// Networks that no importer knows: the graph must hold any of them.

#include "core/graph/graph.h"
#include "core/graph/image_ops.h"
#include "core/graph/parameter_count.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Shape image(std::int64_t channels, std::int64_t edge) {
  return {batch_dimension, fixed_dimension(channels), fixed_dimension(edge), fixed_dimension(edge)};
}

TensorId double_convolution(BlockBuilder& block, const std::string& name, TensorId x, std::int64_t in,
                            std::int64_t out) {
  x = ops::activation(block, name + ".relu1",
                      ops::convolution(block, name + ".conv1", x, {in, out, 3, 3, 1, 1, 1}, Bias::yes));
  return ops::activation(block, name + ".relu2",
                         ops::convolution(block, name + ".conv2", x, {out, out, 3, 3, 1, 1, 1}, Bias::yes));
}

/// Two levels of Ronneberger et al., arXiv:1505.04597, with padding: skip connections past the bottom.
Graph u_net() {
  BlockBuilder block("u_net", BlockKind::output);
  const TensorId images = block.constant("images", image(1, 64), ElementKind::compute);
  const TensorId wide = double_convolution(block, "down1", images, 1, 16);
  const TensorId half = double_convolution(block, "down2", ops::pooling(block, "pool1", wide, {2, 2, 0}), 16, 32);
  const TensorId bottom = double_convolution(block, "bottom", ops::pooling(block, "pool2", half, {2, 2, 0}), 32, 64);
  const TensorId up2 = ops::concatenate(block, "skip2", {half, ops::upsample(block, "up2", bottom, 2)});
  const TensorId joined = double_convolution(block, "up_conv2", up2, 96, 32);
  const TensorId up1 = ops::concatenate(block, "skip1", {wide, ops::upsample(block, "up1", joined, 2)});
  const TensorId y = double_convolution(block, "up_conv1", up1, 48, 16);
  const TensorId classes = ops::convolution(block, "classes", y, {16, 2, 1, 1, 1, 0, 1}, Bias::yes);
  const TensorId pixels =
      ops::select(block, "pixels", classes, {batch_dimension, fixed_dimension(64 * 64), fixed_dimension(2)});
  const TensorId labels = block.constant("labels", {batch_dimension, fixed_dimension(64 * 64)}, ElementKind::index);
  block.output(ops::cross_entropy(block, "loss", pixels, labels, 2));
  std::vector<Block> blocks;
  blocks.push_back(block.build());
  return Graph("u-net", std::move(blocks), {{BlockId(0), 1}});
}

TensorId tower(BlockBuilder& block, const std::string& name, std::int64_t vocabulary) {
  const TensorId ids = block.constant(name + ".ids", {batch_dimension, fixed_dimension(1)}, ElementKind::index);
  TensorId x = ops::embedding(block, name + ".embedding", ids, vocabulary, 32);
  x = ops::activation(block, name + ".relu",
                      ops::linear(block, name + ".up", x, 64, {WeightPartition::column, Bias::yes, false}));
  return ops::linear(block, name + ".down", x, 16, {WeightPartition::row, Bias::yes, false});
}

/// Users and items are embedded apart and meet at the end.
Graph two_towers() {
  BlockBuilder towers("towers", BlockKind::input);
  const TensorId users = tower(towers, "user", 1000);
  const TensorId items = tower(towers, "item", 500);
  towers.output(users);
  towers.output(items);
  BlockBuilder head("head", BlockKind::output);
  const Shape shape = {batch_dimension, fixed_dimension(1), fixed_dimension(16)};
  const TensorId user = head.input("user", shape);
  const TensorId item = head.input("item", shape);
  const TensorId logits = ops::linear(head, "score", ops::concatenate(head, "pair", {user, item}), 2, {});
  const TensorId labels = head.constant("labels", {batch_dimension, fixed_dimension(1)}, ElementKind::index);
  head.output(ops::cross_entropy(head, "loss", logits, labels, 2));
  std::vector<Block> blocks;
  blocks.push_back(towers.build());
  blocks.push_back(head.build());
  return Graph("two-tower", std::move(blocks), {{BlockId(0), 1}, {BlockId(1), 1}});
}

}  // namespace

// Convolutions of k x k from i to o channels: k*k*i*o + o.
TEST_CASE("A hand-built U-Net is a graph") {
  const Graph graph = u_net();
  const auto twice = [](std::int64_t in, std::int64_t out) { return 9 * in * out + out + 9 * out * out + out; };
  CHECK(parameter_count(graph) ==
        twice(1, 16) + twice(16, 32) + twice(32, 64) + twice(96, 32) + twice(48, 16) + 16 * 2 + 2);
  const Block& block = graph.blocks()[0];
  CHECK(block.execution_order().size() == block.ops().size());
  for (const Op& op : block.ops())
    if (op.name == "skip1") CHECK(to_text(block.tensor(op.outputs[0]).shape) == "[batch, 48, 64, 64]");
}

// A tower: V*32 + (32*64 + 64) + (64*16 + 16).
TEST_CASE("A hand-built two-tower network is a graph of two blocks with two tensors between them") {
  const Graph graph = two_towers();
  const std::int64_t products = 32 * 64 + 64 + 64 * 16 + 16;
  CHECK(parameter_count(graph) == 1000 * 32 + products + 500 * 32 + products + 32 * 2);
  CHECK(graph.layer_count() == 0);
  CHECK(active_parameter_count(graph) == parameter_count(graph));
}

}  // namespace plumbline
