#include "core/io/machine_json.h"

#include "core/io/sourced_json.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

using namespace plumbline;

TEST_CASE("every cluster of the catalogue is written and read back equal, byte for byte the second time") {
  for (const std::string& name : machine_names()) {
    INFO(name);
    const Cluster cluster = find_machine(name);
    const std::string text = to_json_text(machine_json({std::nullopt, std::nullopt, cluster}));
    const MachineDocument again = read_machine(parse_json(text, "again.json"), "again.json", {});
    REQUIRE(again.cluster.has_value());
    CHECK(*again.cluster == cluster);
    CHECK(to_json_text(machine_json(again)) == text);
  }
}

TEST_CASE("what links were measured to reach is written and read back equal, and only known factors are read") {
  Cluster cluster = find_machine("dgx-h100");
  cluster.link_factors.set(LinkFactor::network_bandwidth, {0.84, "our runs", SourceKind::measured, "2026-11"});
  cluster.link_factors.set(LinkFactor::node_latency, {1.25, "our runs", SourceKind::measured, ""});
  std::string text = to_json_text(machine_json({std::nullopt, std::nullopt, cluster}));
  const MachineDocument again = read_machine(parse_json(text, "again.json"), "again.json", {});
  REQUIRE(again.cluster.has_value());
  CHECK(*again.cluster == cluster);
  CHECK(again.cluster->link_factors[LinkFactor::network_bandwidth] == 0.84);
  CHECK(again.cluster->link_factors[LinkFactor::node_bandwidth] == 1);
  text.replace(text.find("node_latency"), 12, "node_latencx");
  CHECK_THROWS_WITH(read_machine(parse_json(text, "m.json"), "m.json", {}),
                    Catch::Matchers::ContainsSubstring("node_latencx") &&
                        Catch::Matchers::ContainsSubstring("nearest: node_latency"));
}

TEST_CASE("every device and fabric of the catalogue is written and read back equal") {
  for (const Device& device : machine_parts().devices) {
    const Json json = machine_json({device, std::nullopt, std::nullopt});
    CHECK(read_machine(json, "d.json", {}).device == device);
  }
  for (const Fabric& fabric : machine_parts().fabrics) {
    const Json json = machine_json({std::nullopt, fabric, std::nullopt});
    CHECK(read_machine(json, "f.json", {}).fabric == fabric);
  }
}

TEST_CASE("a quantity may be its value alone, which is then assumed") {
  const char* text = R"({"format": "plumbline.machine/1", "cluster": {"name": "mine", "fabric": "infiniband-ndr",
    "price_usd_per_device_hour": 2.2,
    "nodes": [{"name": "node", "count": 2, "device": "H100-SXM-80GB", "devices_per_node": 8,
      "interconnect": {"kind": "nvlink_switch", "bandwidth": "450 GB/s"},
      "network": {"count": 4, "bandwidth": "400 Gb/s"}, "cpu_vendor": "intel", "host_memory": "80 GiB",
      "pcie_bandwidth": "64 GB/s", "host_power": "3.5 kW"}]}})";
  const Cluster cluster = *read_machine(parse_json(text, "mine.json"), "mine.json", machine_parts()).cluster;
  const Node& node = cluster.groups.front().node;
  CHECK(node.interconnect.bandwidth.value == BytesPerSecond(450e9));
  CHECK(node.network->bandwidth.value == BytesPerSecond(50e9));
  CHECK(node.host_memory.value == 80_GiB);
  CHECK(node.host_power.value == Watts(3500));
  CHECK(cluster.price_per_device_hour->value == Dollars(2.2));
  CHECK(node.host_memory.kind == SourceKind::assumed);
  CHECK_FALSE(node.host_memory.source.empty());
}

TEST_CASE("numbers are written with a unit in which they are short and exact") {
  const auto text = [](const Json& json) { return *json.find("value")->if_string(); };
  CHECK(text(to_json(Sourced<Bytes>{81559_MiB, "s"})) == "81559 MiB");
  CHECK(text(to_json(Sourced<Bytes>{Bytes(7), "s"})) == "7 B");
  CHECK(text(to_json(Sourced<BytesPerSecond>{BytesPerSecond(3.35e12), "s"})) == "3350 GB/s");
  CHECK(text(to_json(Sourced<FlopsPerSecond>{FlopsPerSecond(494.5e12), "s"})) == "494.5 TFLOP/s");
  CHECK(text(to_json(Sourced<Seconds>{Seconds(0), "s"})) == "0 us");
}
