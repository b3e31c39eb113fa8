#include "models/builders/language_model.h"

#include "models/builders/layer.h"

namespace plumbline {
namespace {

const Shape token_shape = {batch_dimension, sequence_dimension};
constexpr LinearSpec between_widths{WeightPartition::replicated, Bias::no, false};

Block input_block(const TransformerDescription& d) {
  BlockBuilder block("input", BlockKind::input);
  TensorId x = ops::embedding(block, "embedding", block.constant("ids", token_shape, ElementKind::index), d.vocabulary,
                              d.embedding_width);
  if (d.embedding_width != d.hidden) x = ops::linear(block, "embedding.projection", x, d.hidden, between_widths);
  if (d.learned_positions > 0) x = ops::position_embedding(block, "positions", x, d.learned_positions);
  if (d.token_types > 0) x = ops::position_embedding(block, "token_types", x, d.token_types);
  if (d.embedding_norm) x = ops::norm(block, "embedding.norm", d.layer.norm, x);
  if (d.embedding_dropout) x = ops::dropout(block, "embedding.dropout", x);
  block.output(x);
  return block.build();
}

/// BERT's pooler: a projection of the first token. It takes no part in the loss of the vocabulary head.
void pooler(BlockBuilder& block, TensorId x, std::int64_t hidden) {
  const TensorId first = ops::select(block, "pooler.first_token", x, {batch_dimension, fixed_dimension(hidden)});
  const TensorId y = ops::linear(block, "pooler", first, hidden, {WeightPartition::replicated, Bias::yes, false});
  block.output(ops::activation(block, "pooler.activation", y));
}

/// Multi-token prediction (DeepSeek-V3, arXiv:2412.19437, section 2.2): the hidden state and the next token's
/// embedding, each normalized, joined and projected, then a layer of the last kind. The embedding is represented by the
/// hidden state, which is as large.
Block prediction_block(const TransformerDescription& d) {
  BlockBuilder block("prediction", BlockKind::layer);
  const TensorId x = block.input("hidden", {batch_dimension, sequence_dimension, fixed_dimension(d.hidden)});
  const TensorId both = ops::concatenate(block, "prediction.joined",
                                         {ops::norm(block, "prediction.embedding_norm", d.layer.norm, x),
                                          ops::norm(block, "prediction.hidden_norm", d.layer.norm, x)});
  const TensorId joined = ops::linear(block, "prediction.projection", both, d.hidden, between_widths);
  block.output(transformer_layer(block, d.layer, d.layers.back(), joined));
  return block.build();
}

/// Logits and loss of every prediction layer, by the weights of the head. The last stage holds a second copy of the
/// embedding for them, which is as large as the head.
void prediction_heads(BlockBuilder& block, const TransformerDescription& d, TensorId x) {
  for (std::int64_t i = 0; i < d.prediction_layers; ++i) {
    const std::string name = "prediction" + std::to_string(i + 1);
    const TensorId y = ops::norm(block, name + ".final_norm", d.layer.norm, x);
    const TensorId logits =
        ops::linear(block, name + ".head", y, d.vocabulary, {WeightPartition::column, d.head_bias, true});
    const TensorId labels = block.constant(name + ".labels", token_shape, ElementKind::index);
    block.output(ops::cross_entropy(block, name + ".loss", logits, labels, d.vocabulary));
  }
}

Block output_block(const TransformerDescription& d) {
  BlockBuilder block("output", BlockKind::output);
  TensorId x = block.input("hidden", {batch_dimension, sequence_dimension, fixed_dimension(d.hidden)});
  prediction_heads(block, d, x);
  if (d.final_norm) x = ops::norm(block, "final_norm", d.layer.norm, x);
  if (d.pooler) pooler(block, x, d.hidden);
  if (d.embedding_width != d.hidden) x = ops::linear(block, "head.projection", x, d.embedding_width, between_widths);
  const TensorId logits =
      ops::linear(block, "head", x, d.vocabulary, {WeightPartition::column, d.head_bias, d.tied_head});
  const TensorId labels = block.constant("labels", token_shape, ElementKind::index);
  block.output(ops::cross_entropy(block, "loss", logits, labels, d.vocabulary));
  return block.build();
}

}  // namespace

Graph language_model(std::string name, const TransformerDescription& d) {
  std::vector<Block> blocks = {input_block(d)};
  std::vector<BlockRun> runs = {{BlockId(0), 1}};
  append_layers(blocks, runs, d.layer, d.layers, sequence_dimension, d.hidden);
  if (d.prediction_layers > 0) {
    blocks.push_back(prediction_block(d));
    runs.push_back({BlockId(static_cast<std::int32_t>(blocks.size()) - 1), d.prediction_layers});
  }
  blocks.push_back(output_block(d));
  runs.push_back({BlockId(static_cast<std::int32_t>(blocks.size()) - 1), 1});
  return Graph(std::move(name), std::move(blocks), std::move(runs));
}

}  // namespace plumbline
