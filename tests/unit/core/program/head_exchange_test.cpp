// The exchanges of a layer, written out.
#include "core/program/head_exchange.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline::head_exchange_test {
namespace {

/// Two sequences of 16 tokens on two ranks, 4 heads of 8 features, fp32.
struct Layer {
  Graph graph =
      llama({.layers = 1, .hidden = 32, .heads = 4, .kv_heads = 4, .head_dim = 8, .width = 48, .vocabulary = 64});
  Shard shard;

  explicit Layer(FlashAttention flash) {
    shard.lengths = {2, 16};
    shard.context_parallel = 2;
    shard.context_communication = ContextCommunication::all_to_all;
    shard.flash_attention = flash;
    shard.formats = precision_formats(PrecisionRecipe::fp32);
  }
  [[nodiscard]] const Block& block() const { return graph.block(graph.sequence()[1]); }
  [[nodiscard]] BlockProgram lower(const Replay& replay = {}) const {
    return BlockLowering(block(), shard).lower(replay);
  }
  /// Kernels and collectives of attention's core.
  [[nodiscard]] std::vector<std::string> calls(const BlockProgram& program, BlockPass pass) const {
    std::vector<std::string> names;
    for (const Instruction& i : program.pass(pass)) {
      if (i.op < 0 || block().op(OpId(i.op)).kind != OpKind::attention) continue;
      if (i.kind == InstructionKind::kernel) names.emplace_back(to_text(i.role));
      if (i.kind == InstructionKind::collective) names.emplace_back(to_text(i.collective));
    }
    return names;
  }
  [[nodiscard]] std::vector<bool> attention() const {
    std::vector<bool> replayed;
    for (const OpId id : block().execution_order()) replayed.push_back(block().op(id).kind == OpKind::attention);
    return replayed;
  }
};

using Names = std::vector<std::string>;
const Names to_heads{"pack-heads", "all-to-all"};
const Names to_tokens{"all-to-all", "unpack-heads"};

Names chained(std::initializer_list<Names> parts) {
  Names all;
  for (const Names& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes kept_of_attention(const Layer& layer) {
  Bytes sum(0);
  for (const SavedTensor& saved : saved_tensors(layer.block(), layer.shard))
    if (saved.op.is_valid() && layer.block().op(saved.op).kind == OpKind::attention) sum += saved.bytes;
  return sum;
}

}  // namespace

TEST_CASE("queries, keys and values are exchanged before attention and its output behind it; backwards the mirror") {
  for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
    const Layer layer(flash);
    const BlockProgram program = layer.lower();
    INFO(to_text(program, layer.block()));
    CHECK(layer.calls(program, BlockPass::forward) == chained({to_heads, to_heads, to_heads, {"forward"}, to_tokens}));
    CHECK(layer.calls(program, BlockPass::backward) ==
          chained({to_heads, {"backward"}, to_tokens, to_tokens, to_tokens}));
    for (const Instruction& i : program.pass(BlockPass::forward))
      if (i.kind == InstructionKind::collective) CHECK(i.axis == Axis::context);
  }
}

// A tensor of a rank: 2 x 8 tokens x 32 features x 4 bytes = 2048. Fused: queries, keys, values, output, and 4 bytes
// for each of 2 x 16 queries of 2 heads = 256. Unfused: the three, and 2 x 2 heads x 16 x 16 probabilities of 4 bytes.
TEST_CASE("what is kept is what attention read and made between the exchanges") {
  CHECK(kept_of_attention(Layer(FlashAttention::on)) == Bytes(4LL * 2048 + 256));
  CHECK(kept_of_attention(Layer(FlashAttention::off)) == Bytes(3LL * 2048 + 4096));
}

TEST_CASE("selective recompute keeps what was exchanged in place of what it was exchanged for") {
  for (const FlashAttention flash : {FlashAttention::on, FlashAttention::off}) {
    const Layer layer(flash);
    const Replay replay{layer.attention(), RecomputeMode::selective};
    const KeepRule rule = keep_rule(layer.block(), layer.shard, replay);
    for (const Op& op : layer.block().ops()) {
      if (op.kind != OpKind::attention) continue;
      for (const TensorId input : op.inputs) CHECK(rule.keeps_tensor[static_cast<std::size_t>(input.index())]);
    }
    CHECK(layer.calls(layer.lower(replay), BlockPass::recompute) ==
          chained({to_heads, to_heads, to_heads, {"forward"}, to_tokens}));
  }
}

}  // namespace plumbline::head_exchange_test
