#include "core/base/errors.h"
#include "core/graph/image_ops.h"
#include "models/builders/vision.h"

namespace plumbline {
namespace {

/// The images between two blocks.
struct Images {
  std::int64_t channels = 0;
  std::int64_t edge = 0;
};

/// He et al. section 3.3 and figure 5: sizes that make a layer's output as large as its input.
constexpr ConvolutionAttributes product_1x1(std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return {in, out, 1, 1, stride, 0, 1};
}
constexpr ConvolutionAttributes product_3x3(std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return {in, out, 3, 3, stride, 1, 1};
}
constexpr std::int64_t bottleneck_reduction = 4;

TensorId normalized(BlockBuilder& block, const std::string& name, const ConvolutionAttributes& a, TensorId x) {
  return ops::batch_norm(block, name + ".norm", ops::convolution(block, name, x, a));
}
TensorId activated(BlockBuilder& block, const std::string& name, const ConvolutionAttributes& a, TensorId x) {
  return ops::activation(block, name + ".activation", normalized(block, name, a, x));
}

Shape shape_of(const Images& images) {
  return {batch_dimension, fixed_dimension(images.channels), fixed_dimension(images.edge),
          fixed_dimension(images.edge)};
}
Images images_of(const Block& block) {
  const Shape& shape = block.tensor(block.outputs().front()).shape;
  return {shape[1].factor, shape[2].factor};
}
Images given_over(BlockBuilder& block, TensorId y, std::vector<Block>& blocks) {
  block.output(y);
  blocks.push_back(block.build());
  return images_of(blocks.back());
}

Images append_stem(const ResidualNetworkDescription& d, std::vector<Block>& blocks) {
  BlockBuilder block("input", BlockKind::input);
  const TensorId images = block.constant("images", shape_of({d.channels, d.image}), ElementKind::compute);
  const ConvolutionAttributes seven{d.channels, d.stem, 7, 7, 2, 3, 1};
  return given_over(block, ops::pooling(block, "stem.pooling", activated(block, "stem", seven, images), {3, 2, 1}),
                    blocks);
}

TensorId bottleneck(BlockBuilder& block, const ResidualNetworkDescription& d, TensorId x, std::int64_t in,
                    std::int64_t out, std::int64_t stride) {
  const std::int64_t inner = out / bottleneck_reduction;
  const bool early = d.downsample_in_first_product;
  x = activated(block, "reduce", product_1x1(in, inner, early ? stride : 1), x);
  x = activated(block, "convolve", product_3x3(inner, inner, early ? 1 : stride), x);
  return normalized(block, "expand", product_1x1(inner, out), x);
}

TensorId basic(BlockBuilder& block, TensorId x, std::int64_t in, std::int64_t out, std::int64_t stride) {
  x = activated(block, "first", product_3x3(in, out, stride), x);
  return normalized(block, "second", product_3x3(out, out), x);
}

Images append_layer(const ResidualNetworkDescription& d, const std::string& name, Images in, std::int64_t out,
                    std::int64_t stride, std::vector<Block>& blocks) {
  BlockBuilder block(name, BlockKind::layer);
  const TensorId x = block.input("images", shape_of(in), ElementKind::compute, Partition::replicated);
  const bool projected = in.channels != out || stride != 1;
  const TensorId shortcut = projected ? normalized(block, "shortcut", product_1x1(in.channels, out, stride), x) : x;
  const TensorId y =
      d.bottleneck ? bottleneck(block, d, x, in.channels, out, stride) : basic(block, x, in.channels, out, stride);
  return given_over(block, ops::activation(block, "activation", ops::add(block, "residual", y, shortcut)), blocks);
}

void append_classifier(const ResidualNetworkDescription& d, Images in, std::vector<Block>& blocks) {
  BlockBuilder block("output", BlockKind::output);
  TensorId x = block.input("images", shape_of(in), ElementKind::compute, Partition::replicated);
  x = ops::pooling(block, "average", x, {in.edge, in.edge, 0});
  x = ops::select(block, "features", x, {batch_dimension, fixed_dimension(in.channels)}, Partition::replicated);
  const TensorId logits =
      ops::linear(block, "classifier", x, d.labels, {WeightPartition::replicated, Bias::yes, false});
  const TensorId labels = block.constant("labels", {batch_dimension}, ElementKind::index);
  block.output(ops::cross_entropy(block, "loss", logits, labels, d.labels));
  blocks.push_back(block.build());
}

}  // namespace

Graph residual_network(std::string name, const ResidualNetworkDescription& d) {
  check(d.widths.size() == d.depths.size(), "every stage has a width and a depth");
  std::vector<Block> blocks;
  std::vector<BlockRun> runs;
  const auto run_last = [&](std::int64_t count) {
    runs.push_back({BlockId(static_cast<std::int32_t>(blocks.size()) - 1), count});
  };
  Images images = append_stem(d, blocks);
  run_last(1);
  for (std::size_t stage = 0; stage < d.widths.size(); ++stage) {
    const std::string prefix = "stage" + std::to_string(stage + 1);
    const std::int64_t stride = stage > 0 || d.downsample_first_stage ? 2 : 1;
    images = append_layer(d, prefix + "_first", images, d.widths[stage], stride, blocks);
    run_last(1);
    if (d.depths[stage] == 1) continue;
    images = append_layer(d, prefix, images, d.widths[stage], 1, blocks);
    run_last(d.depths[stage] - 1);
  }
  append_classifier(d, images, blocks);
  run_last(1);
  return Graph(std::move(name), std::move(blocks), std::move(runs));
}

}  // namespace plumbline
