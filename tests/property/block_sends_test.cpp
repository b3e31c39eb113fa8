// What a block sends, worked by hand. A layer of four query and key heads of 8: x has 2 sequences of 16 tokens, 32
// features and 4 bytes each, 4096 bytes in all.
#include "core/program/block_sends.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline::block_sends_test {
namespace {

constexpr LlamaShape shape{
    .layers = 1, .hidden = 32, .heads = 4, .kv_heads = 4, .head_dim = 8, .width = 48, .vocabulary = 64};
constexpr std::int64_t x = 4096;

Training recipe() {
  Training training;
  training.sequence_length = 16;
  training.precision = PrecisionRecipe::fp32;
  return training;
}

const Block& layer_of(const Graph& graph) {
  const auto is_layer = [](const Block& block) { return block.kind() == BlockKind::layer; };
  return *std::find_if(graph.blocks().begin(), graph.blocks().end(), is_layer);
}

std::vector<std::string> sent(const LlamaShape& network, Strategy s, BlockPass pass, const Replay& replay = {}) {
  const Graph graph = llama(network);
  s.micro_batch = 2;
  const Shard shard = shard_of(s, recipe());
  const Block& layer = layer_of(graph);
  std::vector<std::string> lines;
  for (const BlockSend& send : block_sends(BlockLowering(layer, shard).lower(replay), pass, layer, shard)) {
    std::string line = std::string(to_text(send.kind)) + ' ' + std::string(to_text(send.axis)) + ' ';
    if (send.times > 1) line += std::to_string(send.times) + " x ";
    lines.push_back(line + std::to_string(send.bytes.value()));
  }
  return lines;
}

Strategy divided_in_four(SequenceParallel sequence) {
  Strategy s;
  s.tensor_parallel = 4;
  s.sequence_parallel = sequence;
  return s;
}

using Lines = std::vector<std::string>;
const std::string whole = std::to_string(x);

// Megatron-LM, arXiv:1909.08053: two all-reduces of x forward, two backward.
TEST_CASE("tensor-parallel ranks sum what each of the two halves of a layer makes") {
  const Strategy s = divided_in_four(SequenceParallel::off);
  const Lines two{"all-reduce tensor " + whole, "all-reduce tensor " + whole};
  CHECK(sent(shape, s, BlockPass::forward) == two);
  CHECK(sent(shape, s, BlockPass::backward) == two);
  CHECK(sent(shape, s, BlockPass::recompute).empty());
}

// arXiv:2205.05198, section 4.2.2: each all-reduce becomes a gather and a scatter; the backward gathers x once more.
TEST_CASE("sequence-parallel ranks gather what products read and scatter what they sum") {
  const Strategy s = divided_in_four(SequenceParallel::on);
  const std::string gather = "all-gather tensor " + whole;
  const std::string scatter = "reduce-scatter tensor " + whole;
  CHECK(sent(shape, s, BlockPass::forward) == Lines{gather, scatter, gather, scatter});
  Lines backward = sent(shape, s, BlockPass::backward);
  std::sort(backward.begin(), backward.end());
  CHECK(backward == Lines{gather, gather, gather, gather, scatter, scatter});
}

TEST_CASE("a replay sends what the operators that run again send") {
  const Strategy s = divided_in_four(SequenceParallel::on);
  const std::size_t ops = layer_of(llama(shape)).ops().size();
  const Replay full{std::vector<bool>(ops, true), RecomputeMode::full};
  CHECK(sent(shape, s, BlockPass::recompute, full) == sent(shape, s, BlockPass::forward));
}

// Keys and values of 8 tokens: 2 x (2 x 8 x 32) x 4 bytes = 4096. They travel once forward; backward with gradients.
TEST_CASE("keys and values travel to every other context-parallel rank") {
  Strategy s;
  s.context_parallel = 2;
  CHECK(sent(shape, s, BlockPass::forward) == Lines{"send-receive context " + whole});
  CHECK(sent(shape, s, BlockPass::backward) == Lines{"send-receive context 2 x " + whole});
}

// Queries, keys, values and the output of 8 tokens: 2 x 8 x 32 x 4 bytes = 2048 each, of which all-to-all sends half.
TEST_CASE("ranks that exchange heads send what they have of four tensors each way") {
  Strategy s;
  s.context_parallel = 2;
  s.context_communication = ContextCommunication::all_to_all;
  const std::string one = "all-to-all context 2048";
  CHECK(sent(shape, s, BlockPass::forward) == Lines{one, one, one, one});
  CHECK(sent(shape, s, BlockPass::backward) == Lines{one, one, one, one});
  const std::size_t ops = layer_of(llama(shape)).ops().size();
  CHECK(sent(shape, s, BlockPass::recompute, {std::vector<bool>(ops, true), RecomputeMode::full}) ==
        Lines{one, one, one, one});
  // Two of four kv heads: keys and values are half as large.
  LlamaShape grouped = shape;
  grouped.kv_heads = 2;
  const std::string half = "all-to-all context 1024";
  CHECK(sent(grouped, s, BlockPass::forward) == Lines{one, half, half, one});
  CHECK(sent(grouped, s, BlockPass::backward) == Lines{one, one, half, half});
}

// 32 tokens choose 2 of 8 experts each: 64 rows of 32 features, 8192 bytes. With sequence parallelism over two ranks, a
// rank's own tokens choose half of them.
TEST_CASE("ranks that divide experts gather the rows that arrive and sum what leaves") {
  LlamaShape experts = shape;
  experts.experts = 8;
  experts.chosen = 2;
  experts.expert_width = 16;
  Strategy s;
  s.tensor_parallel = 2;
  s.sequence_parallel = SequenceParallel::on;
  s.expert_parallel = 4;
  s.expert_tensor_parallel = 2;
  const auto of_experts = [&](BlockPass pass) {
    Lines lines = sent(experts, s, pass);
    std::erase_if(lines, [](const std::string& line) { return line.find(" tensor ") != std::string::npos; });
    return lines;
  };
  const std::string group(to_text(Axis::expert));
  const std::string dividing(to_text(Axis::expert_tensor));
  const Lines there_and_back{"all-to-all " + group + " 4096", "all-gather " + dividing + " 8192",
                             "reduce-scatter " + dividing + " 8192", "all-to-all " + group + " 4096"};
  CHECK(of_experts(BlockPass::forward) == there_and_back);
  CHECK(of_experts(BlockPass::backward) == there_and_back);
}

}  // namespace
}  // namespace plumbline::block_sends_test
