#include "core/machine/topology.h"

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

}  // namespace

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
