// Which devices each stage of a pipeline computes on, worked by hand.

#include "core/machine/sites.h"

#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// 8 H100, then 8 A100.
Cluster half_and_half() {
  Cluster cluster = find_machine("dgx-h100");
  cluster.groups.push_back(find_machine("dgx-a100-80g").groups.front());
  return cluster;
}

TEST_CASE("a cluster of one kind is one site, however its nodes are counted") {
  Cluster cluster = find_machine("dgx-h100");
  CHECK(Sites(cluster).count() == 1);
  CHECK(Sites(cluster).of_stages(4).of_rank.empty());
  cluster.groups.push_back(cluster.groups.front());
  cluster.groups.back().node.name = "the other rack";
  CHECK(Sites(cluster).count() == 1);
}

TEST_CASE("a stage computes on the kinds that its range of devices touches") {
  const Sites sites(half_and_half());
  REQUIRE(sites.count() == 3);
  const StageSites two = sites.of_stages(2);
  const std::string h100 = sites[two.site(0)].cluster.groups.front().node.device.name;
  CHECK(h100 == "H100-SXM-80GB");
  CHECK(sites[two.site(1)].cluster.groups.front().node.device.name == "A100-SXM-80GB");
  CHECK(sites[two.site(0)].cluster.groups.size() == 1);
  // The message from the H100 to the A100 crosses both kinds' links.
  CHECK(two.link(1) == 0);
  const StageSites four = sites.of_stages(4);
  CHECK(four.of_rank == std::vector<std::int32_t>{two.site(0), two.site(0), two.site(1), two.site(1)});
  CHECK(four.of_link == std::vector<std::int32_t>{0, two.site(0), 0, two.site(1)});
}

TEST_CASE("a stage that straddles kinds is the whole mixture, with the memory of the smaller device") {
  Cluster cluster = half_and_half();
  cluster.groups.back().node.device.memory.value = 40_GiB;
  const Sites sites(cluster);
  CHECK(sites.of_stages(1).site(0) == 0);
  CHECK(sites[0].memory == 40_GiB);
  // Of three stages on 16 devices the middle one has devices of both.
  const StageSites three = sites.of_stages(3);
  CHECK(three.site(1) == 0);
  CHECK(sites[three.site(0)].memory > 40_GiB);
  CHECK(sites[three.site(2)].memory == 40_GiB);
}

TEST_CASE("a kind's collectives span nodes as in a cluster of that kind alone") {
  const Sites sites(half_and_half());
  const Cluster& alone = sites[sites.of_stages(2).site(0)].cluster;
  CHECK(node_count(alone) == 2);
  CHECK(device_count(alone) == 16);
}

TEST_CASE("nodes that do not begin at a multiple of their devices are priced as the mixture") {
  Cluster cluster = half_and_half();
  cluster.groups.front().node = with_devices(cluster.groups.front().node, 4);
  CHECK(Sites(cluster).of_stages(3).site(2) == 0);
  cluster.groups.front().count = 2;
  CHECK(Sites(cluster).of_stages(2).site(1) != 0);
}

TEST_CASE("devices are named kind by kind") {
  const Cluster cluster = half_and_half();
  CHECK(devices_text(cluster, 0, 16) == "8 x H100-SXM-80GB and 8 x A100-SXM-80GB");
  CHECK(devices_text(cluster, 8, 12) == "4 x A100-SXM-80GB");
}

}  // namespace
}  // namespace plumbline
