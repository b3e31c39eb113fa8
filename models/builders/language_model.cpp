#include "models/builders/language_model.h"

#include "models/builders/layer.h"

namespace plumbline {
namespace {

const Shape token_shape = {batch_dimension, sequence_dimension};
constexpr LinearSpec between_widths{WeightPartition::replicated, Bias::no, false};

Block input_block(const TransformerDescription& d) {
  BlockBuilder block("input", BlockKind::input);
  TensorId x = block.embedding("embedding", block.constant("ids", token_shape, ElementKind::index), d.vocabulary,
                               d.embedding_width);
  if (d.embedding_width != d.hidden) x = block.linear("embedding.projection", x, d.hidden, between_widths);
  if (d.learned_positions > 0) x = block.position_embedding("positions", x, d.learned_positions);
  if (d.token_types > 0) x = block.position_embedding("token_types", x, d.token_types);
  if (d.embedding_norm) x = block.norm("embedding.norm", d.layer.norm, x);
  if (d.embedding_dropout) x = block.dropout("embedding.dropout", x);
  block.output(x);
  return block.build();
}

/// BERT's pooler: a projection of the first token. It takes no part in the loss of the vocabulary head.
void pooler(BlockBuilder& block, TensorId x, std::int64_t hidden) {
  const TensorId first = block.select("pooler.first_token", x, {batch_dimension, fixed_dimension(hidden)});
  const TensorId y = block.linear("pooler", first, hidden, {WeightPartition::replicated, Bias::yes, false});
  block.output(block.activation("pooler.activation", y));
}

Block output_block(const TransformerDescription& d) {
  BlockBuilder block("output", BlockKind::output);
  TensorId x = block.input("hidden", {batch_dimension, sequence_dimension, fixed_dimension(d.hidden)});
  if (d.final_norm) x = block.norm("final_norm", d.layer.norm, x);
  if (d.pooler) pooler(block, x, d.hidden);
  if (d.embedding_width != d.hidden) x = block.linear("head.projection", x, d.embedding_width, between_widths);
  const TensorId logits = block.linear("head", x, d.vocabulary, {WeightPartition::column, d.head_bias, d.tied_head});
  const TensorId labels = block.constant("labels", token_shape, ElementKind::index);
  block.output(block.cross_entropy("loss", logits, labels, d.vocabulary));
  return block.build();
}

}  // namespace

Graph language_model(std::string name, const TransformerDescription& d) {
  std::vector<Block> blocks = {input_block(d)};
  std::vector<BlockRun> runs = {{BlockId(0), 1}};
  append_layers(blocks, runs, d.layer, d.layers, sequence_dimension, d.hidden);
  blocks.push_back(output_block(d));
  runs.push_back({BlockId(static_cast<std::int32_t>(blocks.size()) - 1), 1});
  return Graph(std::move(name), std::move(blocks), std::move(runs));
}

}  // namespace plumbline
