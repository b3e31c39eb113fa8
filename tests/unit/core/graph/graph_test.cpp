#include "core/graph/graph.h"

#include "core/base/errors.h"
#include "core/graph/token_ops.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

Block layer(const std::string& name, std::int64_t in, std::int64_t out, BlockKind kind = BlockKind::layer) {
  BlockBuilder builder(name, kind);
  const TensorId x = builder.input("hidden", {batch_dimension, sequence_dimension, fixed_dimension(in)});
  builder.output(ops::linear(builder, "product", x, out, {}));
  return builder.build();
}

std::string refusal(std::vector<Block> blocks, std::vector<BlockRun> runs) {
  try {
    const Graph graph("net", std::move(blocks), std::move(runs));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("A graph holds equal layers once and executes them in order") {
  const Graph graph("net", {layer("a", 8, 8), layer("b", 8, 8)}, {{BlockId(0), 2}, {BlockId(1), 1}, {BlockId(0), 1}});
  CHECK(graph.layer_count() == 4);
  const std::vector<BlockId> expected = {BlockId(0), BlockId(0), BlockId(1), BlockId(0)};
  CHECK(graph.sequence() == expected);
}

TEST_CASE("Neighbours must agree on what they hand over") {
  CHECK(refusal({layer("a", 8, 16), layer("b", 8, 8)}, {{BlockId(0), 1}, {BlockId(1), 1}}) ==
        "blocks a and b: product [batch, sequence, 16] does not match hidden [batch, sequence, 8]; expected the "
        "outputs of one to be the inputs of the next");
  CHECK_THAT(refusal({layer("a", 8, 16)}, {{BlockId(0), 2}}), ContainsSubstring("blocks a and a"));
}

TEST_CASE("Runs name blocks that exist, a sensible number of times") {
  CHECK_THAT(refusal({layer("a", 8, 8)}, {{BlockId(1), 1}}), ContainsSubstring("a run names block 1"));
  CHECK_THAT(refusal({layer("a", 8, 8)}, {{BlockId(), 1}}), ContainsSubstring("a run names block -1"));
  CHECK_THAT(refusal({layer("a", 8, 8)}, {{BlockId(0), 0}}), ContainsSubstring("repeated 0 times"));
  CHECK_THAT(refusal({layer("a", 8, 8)}, {{BlockId(0), 1'000'001}}), ContainsSubstring("repeated 1000001 times"));
  CHECK_THAT(refusal({layer("a", 8, 8)}, {}), ContainsSubstring("has 0 block executions"));
}

TEST_CASE("Input blocks come first, output blocks last, each once") {
  const auto input = [] { return layer("in", 8, 8, BlockKind::input); };
  const auto output = [] { return layer("out", 8, 8, BlockKind::output); };
  CHECK_THAT(refusal({layer("a", 8, 8), input()}, {{BlockId(0), 1}, {BlockId(1), 1}}),
             ContainsSubstring("block in: is in"));
  CHECK_THAT(refusal({output(), layer("a", 8, 8)}, {{BlockId(0), 1}, {BlockId(1), 1}}), ContainsSubstring("block out"));
  CHECK_THAT(refusal({input()}, {{BlockId(0), 2}}), ContainsSubstring("or repeated"));
  CHECK(refusal({input(), output()}, {{BlockId(0), 1}, {BlockId(1), 1}}) == "accepted");
}

TEST_CASE("Operators execute after what they read, ties in the order of construction") {
  Block::Parts parts = layer("a", 8, 8).parts();
  BlockBuilder builder("diamond", BlockKind::layer);
  const TensorId x = builder.input("x", {batch_dimension, fixed_dimension(8)});
  const TensorId left = ops::activation(builder, "left", x);
  const TensorId right = ops::activation(builder, "right", x);
  builder.output(ops::add(builder, "join", left, right));
  parts = builder.build().parts();
  // Written down backwards, the order of execution still follows the values.
  std::reverse(parts.ops.begin(), parts.ops.end());
  const Block block(parts);
  std::vector<std::string> names;
  for (const OpId id : block.execution_order()) names.push_back(block.op(id).name);
  CHECK(names == std::vector<std::string>{"right", "left", "join"});
  CHECK(block.consumers(x).size() == 2);
  CHECK_FALSE(block.producer(x).is_valid());
}

}  // namespace plumbline
