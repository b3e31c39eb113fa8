// The full rank map, worked by hand.

#include "core/plan/rank_map.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

/// tp 2, dp 4, pp 2 on two hosts of eight.
Layout layout_of_16() {
  Layout layout;
  layout.rank_order = {"tensor", "data", "pipeline"};
  layout.groups = {{"tensor", 2, 1, 8}, {"data", 4, 2, 4}, {"gradient", 4, 2, 4}, {"pipeline", 2, 8, 8}};
  return layout;
}
MachineReference two_hosts() {
  MachineReference machine;
  machine.devices = 16;
  machine.devices_per_node = 8;
  machine.nodes = 2;
  return machine;
}

// 13 = 1 + 2 * 2 + 8 * 1: tensor 1, data 2, pipeline 1; host 1, device 5.
TEST_CASE("a rank's place follows from its number") {
  const std::vector<RankPlace> map = rank_map(layout_of_16(), two_hosts());
  REQUIRE(map.size() == 16);
  CHECK(map[13].host == 1);
  CHECK(map[13].device == 5);
  CHECK(map[13].coordinates == std::vector<std::int64_t>{1, 2, 1});
  CHECK(map[13].representative == 1);
}

// 4 devices on one host, then 12 on three: rank 9 is the sixth of the second kind, on its second host.
TEST_CASE("the hosts of a mixed cluster are counted kind after kind") {
  MachineReference machine = two_hosts();
  machine.kinds = {{"large", 1, 4}, {"small", 3, 4}};
  const std::vector<RankPlace> map = rank_map(layout_of_16(), machine);
  CHECK(map[3].device_name == "large");
  CHECK(map[9].host == 2);
  CHECK(map[9].device == 1);
  CHECK(map[9].device_name == "small");
  CHECK(rank_map(layout_of_16(), two_hosts())[9].device_name.empty());
}

TEST_CASE("every representative stands for as many ranks, and no two ranks share all coordinates") {
  const std::vector<RankPlace> map = rank_map(layout_of_16(), two_hosts());
  std::array<int, 2> members{};
  std::set<std::vector<std::int64_t>> seen;
  for (const RankPlace& place : map) {
    ++members[static_cast<std::size_t>(place.representative)];
    CHECK(seen.insert(place.coordinates).second);
  }
  CHECK(members == std::array<int, 2>{8, 8});
}

TEST_CASE("without a pipeline all ranks run one program") {
  Layout layout = layout_of_16();
  layout.groups.pop_back();
  for (const RankPlace& place : rank_map(layout, two_hosts())) CHECK(place.representative == 0);
}

}  // namespace
}  // namespace plumbline
