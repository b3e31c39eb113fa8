#include "core/machine/cluster.h"

#include "core/base/errors.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

using namespace plumbline;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a count below the node's gives part of one node, else whole nodes") {
  const Cluster h100 = find_machine("dgx-h100");
  CHECK(device_count(h100) == 8);
  const Cluster part = with_device_count(h100, 3);
  CHECK(device_count(part) == 3);
  CHECK(node_count(part) == 1);
  const Cluster many = with_device_count(h100, 131072);
  CHECK(device_count(many) == 131072);
  CHECK(node_count(many) == 16384);
  CHECK(many.groups.front().node == h100.groups.front().node);
}

TEST_CASE("counts that leave a node partly used are refused with the nearest that do not") {
  const Cluster h100 = find_machine("dgx-h100");
  CHECK_THROWS_WITH(with_device_count(h100, 20), ContainsSubstring("gpus: 20") && ContainsSubstring("nearest: 16, 24"));
  CHECK_THROWS_AS(with_device_count(h100, 0), InputError);
  CHECK_THROWS_AS(with_device_count(h100, -8), InputError);
  CHECK_THROWS_AS(with_device_count(h100, std::int64_t{1} << 40), InputError);
}

TEST_CASE("more nodes than the fabric joins, or any where there is no fabric, are refused") {
  Cluster h100 = find_machine("dgx-h100");
  CHECK_THROWS_WITH(with_device_count(h100, 8 * 32768 + 8), ContainsSubstring("infiniband-ndr"));
  h100.groups.front().node.network.reset();
  CHECK_NOTHROW(with_device_count(h100, 8));
  CHECK_THROWS_WITH(with_device_count(h100, 16), ContainsSubstring("no network joins"));
}

TEST_CASE("a mixed cluster keeps its devices and is bound by its slowest node") {
  Cluster mixed = find_machine("dgx-h100");
  mixed.groups.push_back(find_machine("dgx-a100-80g").groups.front());
  mixed.groups.back().count = 3;
  CHECK(device_count(mixed) == 32);
  CHECK(limiting_node(mixed).device.name == "A100-SXM-80GB");
  // 8 at 3.5 and 24 at 1.75 dollars.
  CHECK(price_per_device_hour(mixed)->value() == Approx((8 * 3.5 + 24 * 1.75) / 32));
  CHECK_THROWS_WITH(with_device_count(mixed, 16), ContainsSubstring("mixed"));
}

// In 16 bits an RTX A6000 is the slower of the two (155 against 312 TFLOP/s), in 32 bits the A100 is (38.7
// against 19.5).
TEST_CASE("a step of a mixed cluster waits for the device that is slowest in its own format") {
  Cluster mixed = find_machine("a6000-pcie");
  const Device small = mixed.groups.front().node.device;
  mixed.groups.push_back(find_machine("dgx-a100-80g").groups.front());
  const Device large = mixed.groups.back().node.device;
  const Device slowest = slowest_device(mixed);
  CHECK(slowest.name == small.name);
  CHECK(slowest.product_peak(NumberFormat::bf16) == small.product_peak(NumberFormat::bf16));
  CHECK(slowest.product_peak(NumberFormat::fp32) == large.product_peak(NumberFormat::fp32));
  CHECK(slowest.memory_bandwidth.value == small.memory_bandwidth.value);
  CHECK(slowest_device(find_machine("a6000-pcie")) == small);
}

// Equal rates, other processors and devices: H100 alongside H100 of another vendor's host, GB200 alongside GB300.
TEST_CASE("the order in which nodes are listed decides nothing") {
  for (const auto& [one, other] : {std::pair("h100-roce", "aws-p5"), std::pair("gb200-nvl72", "gb300-nvl72")}) {
    Cluster mixed = find_machine(one);
    mixed.groups.push_back(find_machine(other).groups.front());
    Cluster reversed = mixed;
    std::swap(reversed.groups.front(), reversed.groups.back());
    CHECK(limiting_node(mixed).name == limiting_node(reversed).name);
    CHECK(slowest_device(mixed).name == slowest_device(reversed).name);
  }
}

TEST_CASE("a cluster's own price replaces the device's") {
  CHECK(price_per_device_hour(find_machine("dgx-h100"))->value() == Approx(3.5));
  CHECK(price_per_device_hour(find_machine("aws-p5"))->value() == Approx(98.32 / 8));
}
