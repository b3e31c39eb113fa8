#include "core/graph/image_ops.h"
#include "models/builders/layer.h"
#include "models/builders/vision.h"

namespace plumbline {
namespace {

Block input_block(const VisionTransformerDescription& d) {
  BlockBuilder block("input", BlockKind::input);
  const TensorId images = block.constant(
      "images", {batch_dimension, fixed_dimension(d.channels), fixed_dimension(d.height), fixed_dimension(d.width)},
      ElementKind::compute);
  const ConvolutionAttributes patches{d.channels, d.hidden, d.patch, d.patch, d.patch, 0, 1};
  const TensorId grid = ops::convolution(block, "patches", images, patches, Bias::yes);
  TensorId x =
      ops::select(block, "tokens", grid, {batch_dimension, fixed_dimension(token_count(d)), fixed_dimension(d.hidden)});
  block.add_parameter("class_token", {fixed_dimension(d.hidden)});
  x = ops::position_embedding(block, "positions", x, token_count(d));
  if (d.embedding_dropout) x = ops::dropout(block, "embedding.dropout", x);
  block.output(x);
  return block.build();
}

Block output_block(const VisionTransformerDescription& d) {
  BlockBuilder block("output", BlockKind::output);
  TensorId x = block.input("hidden", {batch_dimension, fixed_dimension(token_count(d)), fixed_dimension(d.hidden)});
  x = ops::norm(block, "final_norm", d.layer.norm, x);
  x = ops::select(block, "class_token", x, {batch_dimension, fixed_dimension(d.hidden)});
  const TensorId logits =
      ops::linear(block, "classifier", x, d.labels, {WeightPartition::replicated, Bias::yes, false});
  const TensorId labels = block.constant("labels", {batch_dimension}, ElementKind::index);
  block.output(ops::cross_entropy(block, "loss", logits, labels, d.labels));
  return block.build();
}

}  // namespace

std::int64_t token_count(const VisionTransformerDescription& d) {
  return (d.height / d.patch) * (d.width / d.patch) + 1;
}

Graph vision_transformer(std::string name, const VisionTransformerDescription& d) {
  std::vector<Block> blocks = {input_block(d)};
  std::vector<BlockRun> runs = {{BlockId(0), 1}};
  append_layers(blocks, runs, d.layer, std::vector<LayerVariant>(static_cast<std::size_t>(d.layers)),
                fixed_dimension(token_count(d)), d.hidden);
  blocks.push_back(output_block(d));
  runs.push_back({BlockId(static_cast<std::int32_t>(blocks.size()) - 1), 1});
  return Graph(std::move(name), std::move(blocks), std::move(runs));
}

}  // namespace plumbline
