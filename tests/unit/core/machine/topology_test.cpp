#include "core/machine/topology.h"

#include <map>
#include <numeric>

#include "tests/catch.h"

using namespace plumbline;

namespace {

Cluster cluster_of(std::int32_t devices_per_node, std::int32_t nodes, std::vector<NetworkLevel> levels,
                   std::int32_t domain = 1) {
  Node node;
  node.devices = devices_per_node;
  node.interconnect.domain_devices = domain;
  node.network = NetworkInterfaces{8, {BytesPerSecond(50e9)}, NicPath::direct};
  return Cluster{"test", {NodeGroup{node, nodes}}, Fabric{"test", std::move(levels)}, std::nullopt, {}};
}

NetworkLevel level(std::int32_t nodes, double oversubscription, double latency_s) {
  NetworkLevel result;
  result.nodes_per_group = nodes;
  result.oversubscription.value = oversubscription;
  result.latency.value = Seconds(latency_s);
  return result;
}

/// Every group of the tiling, rank by rank, over enough blocks that the pattern repeats.
std::int64_t most_boxes_written_out(std::int64_t size, std::int64_t stride, std::int64_t box) {
  const std::int64_t block = size * stride;
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < std::lcm(block, box); first += block) {
    for (std::int64_t offset = 0; offset < stride; ++offset) {
      std::set<std::int64_t> boxes;
      for (std::int64_t i = 0; i < size; ++i) boxes.insert((first + offset + i * stride) / box);
      most = std::max(most, static_cast<std::int64_t>(boxes.size()));
    }
  }
  return most;
}

/// How groups straddle nodes, rank by rank over a whole period of the tiling.
struct Straddled {
  std::int64_t sharing_groups = 1;
  std::int64_t least_ranks = 0;
  std::int64_t crossing_pairs = 0;
};
Straddled straddled_written_out(std::int64_t size, std::int64_t stride, std::int64_t box) {
  const std::int64_t block = size * stride;
  std::map<std::int64_t, std::int64_t> groups_in;  // that leave it, by box
  Straddled found{1, size, 0};
  for (std::int64_t first = 0; first < std::lcm(block, box); first += block)
    for (std::int64_t offset = 0; offset < stride; ++offset) {
      std::map<std::int64_t, std::int64_t> held;
      for (std::int64_t i = 0; i < size; ++i) ++held[(first + offset + i * stride) / box];
      if (held.size() == 1) continue;
      for (const auto& [node, ranks] : held) {
        found.sharing_groups = std::max(found.sharing_groups, ++groups_in[node]);
        found.least_ranks = std::min(found.least_ranks, ranks);
        found.crossing_pairs = std::max(found.crossing_pairs, ranks * (size - ranks));
      }
    }
  return found;
}

/// Of messages from every rank of a stage to its counterpart of another, the most that leave or enter one box.
std::int64_t most_messages_written_out(std::int64_t stage_ranks, std::int64_t stage, std::int64_t other,
                                       std::int64_t box) {
  std::map<std::int64_t, std::int64_t> leave;
  std::map<std::int64_t, std::int64_t> enter;
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < stage_ranks; ++i) {
    const std::int64_t from = (stage * stage_ranks + i) / box;
    const std::int64_t to = (other * stage_ranks + i) / box;
    if (from == to) continue;
    most = std::max({most, ++leave[from], ++enter[to]});
  }
  return most;
}

}  // namespace

TEST_CASE("groups that share a node's cards, their fewest ranks and most pairs equal those counted rank by rank") {
  int uneven = 0;
  for (std::int32_t box = 2; box <= 12; ++box) {
    const Cluster cluster = cluster_of(box, 1000, {level(1000, 1, 0)});
    for (std::int32_t size = 2; size <= 13; ++size)
      for (std::int32_t stride = 1; stride <= 13; ++stride) {
        const GroupSpan span = group_span(size, stride, cluster);
        if (!span.crosses_network()) continue;
        INFO("size " << size << " stride " << stride << " box " << box);
        const Straddled written = straddled_written_out(size, stride, box);
        REQUIRE(span.sharing_groups == written.sharing_groups);
        REQUIRE(span.least_ranks_per_node == written.least_ranks);
        REQUIRE(span.crossing_pairs == written.crossing_pairs);
        uneven += size * stride % box == 0 ? 0 : 1;
      }
  }
  CHECK(uneven > 1000);
}

TEST_CASE("messages between two stages that share a node's cards equal those counted rank by rank") {
  int inside = 0;
  int over_edges = 0;
  for (std::int32_t box = 1; box <= 9; ++box) {
    const Cluster cluster = cluster_of(box, 1000, {level(1000, 1, 0)});
    for (std::int32_t ranks = 1; ranks <= 21; ++ranks)
      for (std::int32_t stage = 0; stage < 7; ++stage)
        for (const std::int32_t other : {stage + 1, stage + 2, 0}) {
          if (stage == other) continue;
          const GroupSpan span = stages_span(ranks, stage, other, cluster);
          const std::int64_t most = most_messages_written_out(ranks, stage, other, box);
          INFO("stages " << stage << " and " << other << " of " << ranks << " ranks, box " << box);
          REQUIRE(span.crosses_network() == (most > 0));
          REQUIRE(span.sharing_groups == std::max<std::int64_t>(1, most));
          REQUIRE(span == stages_span(ranks, other, stage, cluster));
          ++(most > 0 ? over_edges : inside);
        }
  }
  CHECK(inside > 100);
  CHECK(over_edges > 1000);
}

// Stages of 4 ranks on nodes of 8: 0-3 and 4-7 share a node, 4-7 and 8-11 do not, and four ranks send at once.
TEST_CASE("every second boundary of half-node stages leaves the node") {
  const Cluster cluster = cluster_of(8, 4, {level(2, 1, 0), level(4, 3, 0)});
  CHECK(stages_span(4, 0, 1, cluster).nodes == 1);
  CHECK(stages_span(4, 1, 2, cluster).nodes == 2);
  CHECK(stages_span(4, 1, 2, cluster).sharing_groups == 4);
  CHECK(stages_span(4, 2, 3, cluster).nodes == 1);
  // Two nodes to a leaf: the boundary of the second node and the third crosses the spine, the first two do not.
  CHECK(stages_span(4, 1, 2, cluster).level == 0);
  CHECK(stages_span(4, 3, 4, cluster).level == 1);
  CHECK(stages_span(4, 3, 4, cluster).oversubscription == 3);
}

// Of three-rank rings on nodes of 8 only one in each node leaves it to the right: 6-8, and 15-17 to the next. The
// second node has the ends of both.
TEST_CASE("rings inside a node share nothing with those over its edge") {
  const GroupSpan span = group_span(3, 1, cluster_of(8, 3, {level(3, 1, 0)}));
  CHECK(span.nodes == 2);
  CHECK(span.sharing_groups == 2);
  CHECK(span.least_ranks_per_node == 1);
  CHECK(span.crossing_pairs == 2);
}

TEST_CASE("boxes touched by a group equal those counted over explicit rank lists") {
  int compared = 0;
  for (std::int64_t box = 1; box <= 16; ++box)
    for (std::int64_t size = 1; size <= 17; ++size)
      for (std::int64_t stride = 1; stride <= 17; ++stride, ++compared) {
        INFO("size " << size << " stride " << stride << " box " << box);
        REQUIRE(boxes_touched(size, stride, box) == most_boxes_written_out(size, stride, box));
      }
  CHECK(compared == 16 * 17 * 17);
}

TEST_CASE("tensor parallelism inside a node crosses nothing") {
  const GroupSpan span = group_span(8, 1, cluster_of(8, 4, {level(32, 1, 0)}));
  CHECK(span.nodes == 1);
  CHECK(span.ranks_per_node == 8);
  CHECK(span.level == -1);
  CHECK(span.sharing_groups == 1);
  CHECK_FALSE(span.crosses_network());
}

TEST_CASE("data-parallel groups of stride 8 share the NICs of each node eight ways") {
  const GroupSpan span = group_span(4, 8, cluster_of(8, 4, {level(32, 1, 0)}));
  CHECK(span.nodes == 4);
  CHECK(span.ranks_per_node == 1);
  CHECK(span.sharing_groups == 8);
  CHECK(span.level == 0);
}

TEST_CASE("a group of stride 2 puts four ranks in each node and shares with one other") {
  const GroupSpan span = group_span(16, 2, cluster_of(8, 4, {level(32, 1, 0)}));
  CHECK(span.nodes == 4);
  CHECK(span.ranks_per_node == 4);
  CHECK(span.sharing_groups == 2);
}

TEST_CASE("the highest level crossed gives oversubscription, and latencies add up") {
  const Cluster cluster = cluster_of(8, 64, {level(4, 1, 1e-6), level(16, 3, 2e-6), level(64, 7, 4e-6)});
  CHECK(group_span(4, 8, cluster).level == 0);
  CHECK(group_span(16, 8, cluster).level == 1);
  CHECK(group_span(16, 8, cluster).oversubscription == 3);
  const GroupSpan whole = group_span(512, 1, cluster);
  CHECK(whole.level == 2);
  CHECK(whole.oversubscription == 7);
  CHECK(whole.level_latency.value() == Approx(7e-6));
  // Pipeline groups far apart cross the top however few they are.
  CHECK(group_span(2, 256, cluster).level == 2);
}

TEST_CASE("a level that already joins the whole job is the highest that can be crossed") {
  const Cluster cluster = cluster_of(8, 4, {level(32, 1, 0), level(1024, 7, 0)});
  CHECK(group_span(4, 8, cluster).level == 0);
}

TEST_CASE("an NVLink domain that spans nodes counts as one node") {
  const Cluster rack = cluster_of(4, 18, {level(18, 1, 0)}, 72);
  CHECK(group_span(72, 1, rack).nodes == 1);
  // 128 devices sit 64 to a rack: groups of 64 stay inside, the job spans two.
  const Cluster two = cluster_of(4, 32, {level(18, 1, 0), level(576, 1, 0)}, 72);
  CHECK(domain_devices(two) == 64);
  CHECK(group_span(64, 1, two).nodes == 1);
  CHECK(group_span(2, 64, two).nodes == 2);
  CHECK(group_span(2, 64, two).sharing_groups == 64);
}

TEST_CASE("sizes and strides below one count as one") {
  CHECK(group_span(0, -3, cluster_of(8, 4, {})) == group_span(1, 1, cluster_of(8, 4, {})));
}
