#include "models/builders/encoder_decoder.h"

#include "models/builders/layer.h"
#include "models/builders/layer_parts.h"

namespace plumbline {
namespace {

struct States {
  TensorId encoder;
  TensorId decoder;
};

/// Writes the blocks of one description; every block takes and returns both states.
class Writer {
 public:
  explicit Writer(const EncoderDecoderDescription& description) : d_(description) {}

  Graph write(std::string name) {
    append(input_block(), 1);
    stack(d_.encoder_layers, [&](const std::string& block, bool first) { return encoder_block(block, first); });
    stack(
        d_.decoder_layers, [&](const std::string& block, bool first) { return decoder_block(block, first); },
        "decoder");
    append(output_block(), 1);
    return Graph(std::move(name), std::move(blocks_), std::move(runs_));
  }

 private:
  void append(Block block, std::int64_t count) {
    runs_.push_back({BlockId(static_cast<std::int32_t>(blocks_.size())), count});
    blocks_.push_back(std::move(block));
  }

  /// The first layer of a stack holds its table of relative positions, so it is a block of its own.
  template <class BlockOf>
  void stack(std::int64_t layers, BlockOf block_of, const std::string& name = "encoder") {
    append(block_of(name + "_first", true), 1);
    if (layers > 1) append(block_of(name, false), layers - 1);
  }

  States states(BlockBuilder& block) const {
    const Shape shape = {batch_dimension, sequence_dimension, fixed_dimension(d_.hidden)};
    const TensorId encoder = block.input("encoder_state", shape);
    return {encoder, block.input("decoder_state", shape)};
  }
  static Block finished(BlockBuilder& block, States s) {
    block.output(s.encoder);
    block.output(s.decoder);
    return block.build();
  }
  TensorId dropped(BlockBuilder& block, const std::string& name, TensorId x) const {
    return d_.dropout ? ops::dropout(block, name, x) : x;
  }
  AttentionDescription attention(bool first, bool causal) const {
    AttentionDescription a = d_.layer.attention;
    a.causal = causal;
    if (!first) a.relative_bias_buckets = 0;
    return a;
  }

  Block input_block() const {
    const Shape tokens = {batch_dimension, sequence_dimension};
    BlockBuilder block("input", BlockKind::input);
    const TensorId source = block.constant("ids", tokens, ElementKind::index);
    const TensorId target = block.constant("target_ids", tokens, ElementKind::index);
    const TensorId x = ops::embedding(block, "embedding", source, d_.vocabulary, d_.hidden);
    const TensorId y = ops::embedding(block, "target_embedding", target, d_.vocabulary, d_.hidden, Tied::yes);
    const TensorId encoder = dropped(block, "embedding.dropout", x);
    return finished(block, {encoder, dropped(block, "target_embedding.dropout", y)});
  }

  Block encoder_block(const std::string& name, bool first) const {
    BlockBuilder block(name, BlockKind::layer);
    const States s = states(block);
    LayerDescription layer = d_.layer;
    layer.attention = attention(first, false);
    return finished(block, {transformer_layer(block, layer, {}, s.encoder), s.decoder});
  }

  /// The encoder's last norm is in the first decoder block: every later block receives the normalized state.
  Block decoder_block(const std::string& name, bool first) const {
    BlockBuilder block(name, BlockKind::layer);
    States s = states(block);
    if (first)
      s.encoder = dropped(block, "encoder.dropout", ops::norm(block, "encoder.final_norm", d_.layer.norm, s.encoder));
    s.decoder = decoder_layer(block, s, first);
    return finished(block, s);
  }

  TensorId decoder_layer(BlockBuilder& block, States s, bool first) const {
    TensorId x = s.decoder;
    TensorId part = ops::norm(block, "attention.norm", d_.layer.norm, x);
    part = attention_part(block, attention(first, true), {}, d_.layer.norm, part);
    x = ops::add(block, "attention.residual", x, dropped(block, "attention.dropout", part));
    part = ops::norm(block, "cross_attention.norm", d_.layer.norm, x);
    part = cross_attention_part(block, attention(false, false), part, s.encoder);
    x = ops::add(block, "cross_attention.residual", x, dropped(block, "cross_attention.dropout", part));
    part = mlp_part(block, "mlp", d_.layer.mlp, ops::norm(block, "mlp.norm", d_.layer.norm, x));
    return ops::add(block, "mlp.residual", x, dropped(block, "mlp.dropout", part));
  }

  Block output_block() const {
    BlockBuilder block("output", BlockKind::output);
    const States s = states(block);
    TensorId x = ops::norm(block, "final_norm", d_.layer.norm, s.decoder);
    x = dropped(block, "final_dropout", x);
    const TensorId logits =
        ops::linear(block, "head", x, d_.vocabulary, {WeightPartition::column, Bias::no, d_.tied_head});
    const TensorId labels = block.constant("labels", {batch_dimension, sequence_dimension}, ElementKind::index);
    block.output(ops::cross_entropy(block, "loss", logits, labels, d_.vocabulary));
    return block.build();
  }

  const EncoderDecoderDescription& d_;
  std::vector<Block> blocks_;
  std::vector<BlockRun> runs_;
};

}  // namespace

Graph encoder_decoder_model(std::string name, const EncoderDecoderDescription& description) {
  return Writer(description).write(std::move(name));
}

}  // namespace plumbline
