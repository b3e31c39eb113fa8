// A block as nodes in layers.
#include "gui/pages/graph/block_picture.h"

#include "core/cost/stack_shard.h"
#include "core/sharding/op_work.h"
#include "gui/pages/graph/layered_layout.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"

namespace plumbline::gui {
namespace {

TEST_CASE("the repeated block comes first, and its operators sum to its FLOPs") {
  AskedPlan asked = pipelined();
  asked.strategy.tensor_parallel = 2;
  const SharedPlan plan = priced(asked);
  const session::PricedQuestion& of = plan->answer;
  const std::vector<BlockPicture> pictures = block_pictures(of);
  REQUIRE(pictures.size() == of.question.graph().blocks().size());
  CHECK(pictures.front().repeats == 12);
  const Shard shard = shard_of(of.strategy, of.question.training(), of.question.calibration().stack);
  double forward = 0;
  double backward = 0;
  for (const GraphNode& node : pictures.front().nodes) {
    forward += node.forward.value();
    backward += node.backward.value();
  }
  for (const Block& block : of.question.graph().blocks()) {
    if (block.name() != pictures.front().name) continue;
    const BlockFlops expected = block_flops(block, shard);
    CHECK(forward == Approx(expected.forward.value()));
    CHECK(backward == Approx(expected.backward().value()));
  }
}

TEST_CASE("weights that tensor parallelism divides say so") {
  AskedPlan asked = pipelined();
  asked.strategy.tensor_parallel = 2;
  const std::vector<BlockPicture> pictures = block_pictures(priced(asked)->answer);
  const auto divided =
      std::count_if(pictures.front().nodes.begin(), pictures.front().nodes.end(),
                    [](const GraphNode& node) { return node.sharding.find("weight: width/2") != std::string::npos; });
  CHECK(divided >= 2);
  const std::vector<BlockPicture> whole = block_pictures(priced(pipelined())->answer);
  for (const GraphNode& node : whole.front().nodes) CHECK(node.sharding.empty());
  CHECK(node_table(whole.front()).rows.size() == whole.front().nodes.size());
}

TEST_CASE("edges lead down, and no two nodes lie at one place") {
  for (const BlockPicture& picture : block_pictures(priced(pipelined())->answer)) {
    for (const GraphEdge& edge : picture.edges) CHECK(picture.nodes[edge.from].layer < picture.nodes[edge.to].layer);
    std::set<std::pair<int, int>> places;
    for (const GraphNode& node : picture.nodes) CHECK(places.insert({node.layer, node.place}).second);
  }
}

TEST_CASE("a diamond has three layers, and crossed neighbours are put in order") {
  BlockPicture picture;
  picture.nodes.resize(6);
  // 0 feeds 1 and 2; 3 reads 2, 4 reads 1; 5 reads both.
  picture.edges = {{0, 1}, {0, 2}, {2, 3}, {1, 4}, {3, 5}, {4, 5}};
  lay_out(picture);
  CHECK(picture.layers == 4);
  CHECK(picture.widest == 2);
  CHECK((picture.nodes[1].place < picture.nodes[2].place) == (picture.nodes[4].place < picture.nodes[3].place));
}

}  // namespace
}  // namespace plumbline::gui
