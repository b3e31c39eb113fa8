// Shards and sections of parameters, by hand.

#include "planner/launch/parameter_shards.h"

#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Strategy two_stages(std::int32_t data_parallel) {
  Strategy s;
  s.pipeline_stages = 2;
  s.schedule = Schedule::one_f_one_b;
  s.data_parallel = data_parallel;
  s.shard_group = data_parallel;
  s.zero_stage = 3;
  return s;
}

// T5's encoder and decoder read one embedding of 32128 x 512; its head, on the other stage, is a copy of it.
TEST_CASE("what is tied to an embedding of its own block is in no section, a copy on another rank is") {
  const Network t5 = find_network("t5-small");
  const std::int64_t executions = std::ssize(t5.graph.sequence());
  const std::vector<BlockShards> blocks =
      block_shards(t5.graph, two_stages(3), Optimizer::adamw, {{0, executions / 2}, {executions / 2, executions}});
  const BlockShards& input = blocks.front();
  REQUIRE(input.parameters.size() == 2);
  CHECK(input.parameters[1].is_tied);
  REQUIRE(input.sections.size() == 1);
  CHECK(input.sections[0].parameters == std::vector<std::int64_t>{0});
  const BlockShards& output = blocks.back();
  REQUIRE(output.sections.size() == 2);  // the norm, and the copy by itself
  CHECK(output.sections[1].elements == 32128 * 512);
  CHECK(output.sections[1].padded == 16449537);  // a multiple of 3
  CHECK(output.sections[1].parts == 3);
}

TEST_CASE("on one rank the head of tied embeddings is the embedding") {
  const Network gpt2 = find_network("gpt2");
  const std::int64_t executions = std::ssize(gpt2.graph.sequence());
  const std::vector<BlockShards> blocks = block_shards(gpt2.graph, Strategy{}, Optimizer::adamw, {{0, executions}});
  for (const ShardSection& section : blocks.back().sections)
    for (const std::int64_t index : section.parameters)
      CHECK(!blocks.back().parameters[static_cast<std::size_t>(index)].is_tied);
}

// Llama's feed-forward at tp 2: gate and up by rows, down by columns; queries and keys by heads.
TEST_CASE("tensor parallelism divides columns of what ends a region and rows of the rest") {
  const Network llama = find_network("nano-llama");
  Strategy s;
  s.tensor_parallel = 2;
  const std::int64_t executions = std::ssize(llama.graph.sequence());
  const BlockShards layer = block_shards(llama.graph, s, Optimizer::adamw, {{0, executions}})[1];
  for (const ParameterShard& p : layer.parameters) {
    INFO(p.name);
    const bool is_norm = p.shape.size() == 1;
    REQUIRE(p.divided.size() == (is_norm ? 0U : 1U));
    if (is_norm) continue;
    CHECK(p.divided[0].over == Axis::tensor);
    CHECK(p.divided[0].dimension == (p.name == "mlp.down.weight" || p.name == "attention.output.weight" ? 1 : 0));
    CHECK(p.divided[0].heads == (p.name == "attention.qkv.q.weight"     ? 8
                                 : p.name.starts_with("attention.qkv.") ? 4
                                                                        : 0));
  }
}

}  // namespace
}  // namespace plumbline
