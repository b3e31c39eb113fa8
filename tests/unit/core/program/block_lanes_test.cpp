// Lanes and waits of a layer's instructions, written out.
#include "core/program/block_lanes.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline {
namespace {

struct Layer {
  Graph graph = gpt({.layers = 1, .hidden = 24, .heads = 6, .vocabulary = 16, .positions = 16});
  Shard shard;
  BlockProgram program;

  explicit Layer(std::int32_t ranks, SequenceParallel sequence_parallel = SequenceParallel::off) {
    shard.lengths = {1, 12};
    shard.tensor_parallel = ranks;
    shard.sequence_parallel = sequence_parallel;
    program = BlockLowering(block(), shard).lower({});
  }
  [[nodiscard]] const Block& block() const { return graph.block(graph.sequence()[1]); }
};

bool uses(const BlockProgram& program, const Instruction& i, const Instruction& other) {
  for (const std::int32_t a : program.operands_of(i))
    for (const std::int32_t b : program.operands_of(other))
      if (a >= 0 && a == b) return true;
  return false;
}

TEST_CASE("one rank waits for no collective") {
  const Layer alone(1);
  for (const auto& pass : alone.program.passes)
    for (const Instruction& i : pass) {
      CHECK(i.waits_for == -1);
      CHECK(lane_of(i) == Stream::compute);
    }
}

TEST_CASE("whatever uses a collective's buffer behind it waits for it or for a later one") {
  const std::int32_t ranks = GENERATE(2, 3, 6);
  for (const SequenceParallel sequence_parallel : {SequenceParallel::off, SequenceParallel::on}) {
    const Layer layer(ranks, sequence_parallel);
    INFO(ranks << " ranks\n" << to_text(layer.program, layer.block()));
    int collectives = 0;
    for (const auto& pass : layer.program.passes)
      for (std::size_t c = 0; c < pass.size(); ++c) {
        if (lane_of(pass[c]) != Stream::tensor) continue;
        ++collectives;
        std::int32_t waited = -1;
        for (std::size_t i = c + 1; i < pass.size(); ++i) {
          waited = std::max(waited, pass[i].waits_for);
          if (lane_of(pass[i]) == Stream::tensor || pass[i].kind == InstructionKind::reclassify) continue;
          if (uses(layer.program, pass[i], pass[c])) CHECK(waited >= static_cast<std::int32_t>(c));
        }
      }
    CHECK(collectives >= 4);
  }
}

TEST_CASE("weight gradients run while the gradients of their product's input are summed over ranks") {
  const Layer layer(GENERATE(2, 3, 6));
  INFO(to_text(layer.program, layer.block()));
  const std::vector<Instruction>& backward = layer.program.pass(BlockPass::backward);
  int alongside = 0;
  for (std::size_t i = 1; i < backward.size(); ++i) {
    if (backward[i].kind != InstructionKind::kernel || backward[i].role != KernelRole::weight_gradient) continue;
    if (lane_of(backward[i - 1]) != Stream::tensor) continue;
    CHECK(backward[i].waits_for == -1);
    ++alongside;
  }
  CHECK(alongside == 2);  // of attention's projections and of the MLP's
}

}  // namespace
}  // namespace plumbline
