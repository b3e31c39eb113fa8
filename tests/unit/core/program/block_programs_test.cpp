// Programs of a network's blocks: which executions share one, and with whom.
#include "core/program/block_programs.h"

#include "tests/catch.h"
#include "tests/networks.h"

namespace plumbline::block_programs_test {
namespace {

Graph three_layers() {
  GptShape shape;
  shape.layers = 3;
  shape.hidden = 8;
  shape.heads = 2;
  shape.vocabulary = 16;
  shape.positions = 16;
  return gpt(shape);
}

Shard shard_of_tokens(std::int64_t tokens) {
  Shard shard;
  shard.lengths = {1, tokens};
  return shard;
}

/// Of an embedding, three layers and a head, of which the layer in the middle runs again.
std::vector<Replay> middle_replayed(const Graph& graph) {
  std::vector<Replay> replays(graph.sequence().size());
  const Block& layer = graph.block(graph.sequence()[2]);
  replays[2] = {std::vector<bool>(layer.ops().size(), true), RecomputeMode::full};
  return replays;
}

TEST_CASE("executions of a block with the same replay have one program") {
  const Graph graph = three_layers();
  REQUIRE(graph.sequence().size() == 5);
  KnownPrograms known;
  const BlockPrograms programs = block_programs(graph, shard_of_tokens(4), middle_replayed(graph), known);
  REQUIRE(programs.size() == 5);
  CHECK(programs[1] == programs[3]);
  CHECK(programs[1] != programs[2]);
  CHECK(programs[1]->pass(BlockPass::recompute).empty());
  CHECK_FALSE(programs[2]->pass(BlockPass::recompute).empty());
}

TEST_CASE("a block that was lowered for the same sizes is not lowered again, for others it has its own bytes") {
  const Graph graph = three_layers();
  const std::vector<Replay> replays = middle_replayed(graph);
  const Block& layer = graph.block(graph.sequence()[1]);
  KnownPrograms known;
  const Shard priced = shard_of_tokens(4);
  const auto kept = BlockLowering(layer, priced, &known).shared({});
  // Pricing names the mode of a replay, of which only `selective` changes what is done.
  const auto placed = BlockLowering(layer, priced, &known).shared({replays[2].replayed, RecomputeMode::placed});
  const BlockPrograms same = block_programs(graph, priced, replays, known);
  CHECK(same[1] == kept);
  CHECK(same[2] == placed);
  const Shard longer = shard_of_tokens(8);
  const BlockPrograms others = block_programs(graph, longer, replays, known);
  CHECK(others[1] != kept);
  CHECK(others[1] == others[3]);
  CHECK(to_text(*others[1], layer) == to_text(BlockLowering(layer, longer).lower({}), layer));
  CHECK(to_text(*kept, layer) == to_text(BlockLowering(layer, priced).lower({}), layer));
}

TEST_CASE("what whole backwards run is the same in a program that split ones share") {
  const Graph graph = three_layers();
  const std::vector<Replay> replays = middle_replayed(graph);
  for (const std::int32_t ranks : {1, 2}) {
    Shard shard = shard_of_tokens(4);
    shard.tensor_parallel = ranks;
    KnownPrograms known;
    const BlockPrograms programs = block_programs(graph, shard, replays, known);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      const Block& block = graph.block(graph.sequence()[i]);
      const BlockProgram whole = BlockLowering(block, shard).lower(replays[i], BackwardForm::whole);
      CHECK(to_text(*programs[i], block, BackwardForm::whole) == to_text(whole, block));
      CHECK(whole.pass(BlockPass::weight).empty());
    }
  }
}

// Rows that are routed to a rank beyond its balanced ones, or that it lacks, change sizes alone.
TEST_CASE("a program of experts in the sizes of other rows is the one that is lowered for them") {
  LlamaShape shape{.layers = 2, .hidden = 8, .heads = 2, .kv_heads = 2, .head_dim = 4, .width = 12, .vocabulary = 16};
  shape.experts = 4;
  shape.chosen = 2;
  shape.expert_width = 8;
  const Graph graph = llama(shape);
  for (const std::int32_t parts : {1, 2})
    for (const std::int64_t rows : {-3, 0, 5})
      for (const Block& block : graph.blocks()) {
        CAPTURE(block.name(), parts, rows);
        Shard balanced = shard_of_tokens(8);
        balanced.expert_parallel = 2;
        balanced.expert_tensor_parallel = parts;
        Shard routed = balanced;
        routed.extra_rows = rows;
        const std::vector<Replay> replays{{}, {std::vector<bool>(block.ops().size(), true), RecomputeMode::full}};
        for (const Replay& replay : replays) {
          const BlockProgram resized =
              BlockLowering(block, routed).in_sizes(BlockLowering(block, balanced).lower(replay));
          CHECK(to_text(resized, block) == to_text(BlockLowering(block, routed).lower(replay), block));
        }
      }
}

}  // namespace
}  // namespace plumbline::block_programs_test
