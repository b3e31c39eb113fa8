// A layer's instructions, written out.
#include "core/program/block_program.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

/// Kernels and collectives of a pass, by operator.
std::vector<std::string> calls(const BlockProgram& program, const Block& block, BlockPass pass) {
  std::vector<std::string> names;
  for (const Instruction& i : program.pass(pass)) {
    if (i.kind == InstructionKind::kernel)
      names.push_back(block.op(OpId(i.op)).name + " " + std::string(to_text(i.role)));
    if (i.kind == InstructionKind::collective) names.push_back(std::string(to_text(i.collective)));
  }
  return names;
}

TEST_CASE("a GPT layer with sequence parallelism communicates as Megatron-LM does") {
  GptShape shape;
  shape.layers = 1;
  shape.hidden = 8;
  shape.heads = 2;
  shape.vocabulary = 16;
  shape.positions = 16;
  const Graph graph = gpt(shape);
  const Block& layer = graph.block(graph.sequence()[1]);
  Shard shard;
  shard.lengths = {1, 4};
  shard.tensor_parallel = 2;
  shard.sequence_parallel = SequenceParallel::on;
  const BlockProgram program = BlockLowering(layer, shard).lower({});
  INFO(to_text(program, layer));
  const std::string gather = "all-gather";
  const std::string scatter = "reduce-scatter";
  const auto forward = calls(program, layer, BlockPass::forward);
  CHECK(std::count(forward.begin(), forward.end(), gather) == 2);   // before attention and before the MLP
  CHECK(std::count(forward.begin(), forward.end(), scatter) == 2);  // behind them
  const auto backward = calls(program, layer, BlockPass::backward);
  CHECK(std::count(backward.begin(), backward.end(), gather) == 4);  // gradients of both, and both inputs again
  CHECK(std::count(backward.begin(), backward.end(), scatter) == 2);
  CHECK(program.pass(BlockPass::recompute).empty());
  REQUIRE(program.outputs.size() == 1);
  // Hidden states of two of four tokens in bf16.
  CHECK(program.buffers[static_cast<std::size_t>(program.outputs.front())].bytes == Bytes(2LL * 8 * 2));
}

// Queries, keys and values read one gathered tensor, a gate and what it scales the other.
TEST_CASE("a gathered input that is kept lives until its last reader's weight gradient, and is gathered once") {
  LlamaShape shape{1, 8, 2, 2, 4, 12, 16};
  const Graph graph = llama(shape);
  const Block& layer = graph.block(graph.sequence()[1]);
  Shard shard;
  shard.lengths = {1, 4};
  shard.tensor_parallel = 2;
  shard.sequence_parallel = SequenceParallel::on;
  shard.kept.gathered_inputs = GatheredInputs::kept;
  const BlockLowering lowering(layer, shard);
  const auto gathers = [&](const BlockProgram& program, BlockPass pass) {
    const auto all = calls(program, layer, pass);
    return std::count(all.begin(), all.end(), "all-gather");
  };
  const BlockProgram program = lowering.lower({});
  INFO(to_text(program, layer));
  CHECK(gathers(program, BlockPass::forward) == 2);
  CHECK(gathers(program, BlockPass::backward) == 2);  // gradients of what was scattered
  CHECK(gathers(program, BlockPass::weight) == 0);
  const BlockProgram replayed = lowering.lower({std::vector<bool>(layer.ops().size(), true), RecomputeMode::full});
  CHECK(gathers(replayed, BlockPass::recompute) == 2);
  CHECK(gathers(replayed, BlockPass::backward) == 2);
}

TEST_CASE("full recompute runs a layer's kernels again before its backward") {
  LlamaShape shape{1, 8, 2, 2, 4, 12, 16};
  const Graph graph = llama(shape);
  const Block& layer = graph.block(graph.sequence()[1]);
  Shard shard;
  shard.lengths = {1, 4};
  const Replay replay{std::vector<bool>(layer.ops().size(), true), RecomputeMode::full};
  const BlockProgram program = BlockLowering(layer, shard).lower(replay);
  CHECK(calls(program, layer, BlockPass::recompute) == calls(program, layer, BlockPass::forward));
  REQUIRE(program.keeps_input.size() == 1);
  CHECK(program.keeps_input.front());
}

}  // namespace
}  // namespace plumbline
