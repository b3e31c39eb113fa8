// Spellings of networks in published rows, in bits per second as their sources mean them.

#include "planner/validate/stated_network.h"

#include "models/machine_catalog.h"
#include "planner/validate/run_strategy.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

struct Spelling {
  const char* text;
  std::int32_t cards;  ///< of a node of eight devices and eight cards
  double gbits_of_card;
};

constexpr std::array spellings{
    Spelling{"4x100Gb RoCE per node", 4, 100},
    Spelling{"800 Gb/s", 8, 100},  // of the node, over its eight cards
    Spelling{"800 Gb/s InfiniBand per node", 8, 100},
    Spelling{"8x HDR200 per node (Selene)", 8, 200},
    Spelling{"8x NDR400 per node", 8, 400},
    Spelling{"4x Omni-Path 100 per node (Jean Zay)", 4, 100},
    Spelling{"8 \xC3\x97 400 Gb/s", 8, 400},
    Spelling{"8x400G", 8, 400},
    Spelling{"400 Gb/s RDMA per GPU", 8, 400},
    Spelling{"25 GB/s per NIC", 8, 200},
    Spelling{"3.2 Tbps EFA", 8, 400},
    Spelling{"100GbE", 8, 12.5},
    Spelling{"InfiniBand NDR", 8, 400},
    Spelling{"2x HDR", 2, 200},
    Spelling{"4x Slingshot-11", 4, 200},
};

double gbits(BytesPerSecond rate) { return 8 * rate.value() / 1e9; }

}  // namespace

TEST_CASE("a network's rate is understood in every published spelling") {
  const Node node = find_machine("dgx-h100").groups.front().node;
  for (const Spelling& spelling : spellings) {
    CAPTURE(spelling.text);
    const auto stated = stated_network(spelling.text);
    REQUIRE(stated);
    const Node with = with_stated_network(node, *stated, spelling.text);
    CHECK(with.network->count == spelling.cards);
    CHECK(gbits(with.network->bandwidth.value) == Approx(spelling.gbits_of_card));
    CHECK(with.network->bandwidth.source.find(spelling.text) != std::string::npos);
  }
}

TEST_CASE("a network without a rate is none") {
  for (const char* text : {"", "RoCE RDMA", "unpublished", "GCP A3 (TCPX)", "MPFT", "yes", "80 GB per node"}) {
    CAPTURE(text);
    CHECK_FALSE(stated_network(text));
  }
  const std::string long_text(5000, 'x');
  CHECK_FALSE(stated_network(long_text + "8x400G"));
}

TEST_CASE("a run's nodes have the network that it states, whatever its machine has") {
  RunFields fields;
  fields.words = {{"machine", "dgx-h100"}, {"network", "4x100Gb RoCE per node"}};
  fields.numbers = {{"gpus", 64}};
  const Cluster cluster = cluster_of(fields);
  CHECK(cluster.groups.front().node.network_bandwidth() == BytesPerSecond(50e9));
  fields.words["network"] = "RoCE RDMA";
  CHECK(cluster_of(fields).groups.front().node.network_bandwidth() == BytesPerSecond(400e9));
}

}  // namespace plumbline
