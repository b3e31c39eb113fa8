#include "core/io/machine_json.h"

#include "core/base/errors.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline::machine_json_test {

using Catch::Matchers::ContainsSubstring;

namespace {

/// The catalogue's dgx-h100 as a file of its own, with every occurrence of `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = to_json_text(machine_json({std::nullopt, std::nullopt, find_machine("dgx-h100")}), -1);
  REQUIRE(text.find(from) != std::string::npos);
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

MachineDocument read(const std::string& text) {
  return read_machine(parse_json(text, "my.json"), "my.json", machine_parts());
}

void refuses(const std::string& from, const std::string& to, const std::string& where, const std::string& words) {
  INFO(from << " -> " << to);
  CHECK_THROWS_AS(read(changed(from, to)), InputError);
  CHECK_THROWS_WITH(read(changed(from, to)), ContainsSubstring("my.json:" + where) && ContainsSubstring(words));
}

const std::string node = "/cluster/nodes/0";

}  // namespace

TEST_CASE("the unchanged file is read") { CHECK_NOTHROW(read(changed("dgx-h100", "dgx-h100"))); }

TEST_CASE("unknown and missing keys are refused with the nearest key") {
  refuses("\"host_power\"", "\"host_pwer\"", node, "nearest: host_pwer");
  refuses("\"links\":18", "\"lnks\":18", node + "/interconnect/lnks", "unknown key; nearest: links");
  refuses("\"format\":\"plumbline.machine/1\"", "\"format\":\"plumbline.machine/2\"", "/format", "plumbline.machine/1");
}

TEST_CASE("rates and sizes without a unit, of another unit, zero, negative or absurd are refused") {
  const std::string bandwidth = node + "/interconnect/bandwidth/value";
  refuses("\"450 GB/s\"", "\"450\"", bandwidth, "has no unit");
  refuses("\"450 GB/s\"", "\"450 GiB\"", bandwidth, "unknown unit");
  refuses("\"450 GB/s\"", "\"0 GB/s\"", bandwidth, "beyond any machine");
  refuses("\"450 GB/s\"", "\"-450 GB/s\"", bandwidth, "out of range");
  refuses("\"450 GB/s\"", "\"450e15 GB/s\"", bandwidth, "out of range");
  refuses("\"450 GB/s\"", "\"45000 TB/s\"", bandwidth, "from 1 KB/s to 10000 TB/s");
  refuses("\"450 GB/s\"", "\"nan GB/s\"", bandwidth, "out of range");
  refuses("\"450 GB/s\"", "450", bandwidth, "a string");
  refuses("\"80998 MiB\"", "\"0 B\"", node + "/device/memory/value", "more than 0 B");
  refuses("\"700 W\"", "\"7 GW\"", node + "/device/power/value", "unknown unit");
  refuses("\"700 W\"", "\"7 MW\"", node + "/device/power/value", "at most 1 MW");
  refuses("\"989 TFLOP/s\"", "\"989000 PFLOP/s\"", node + "/device/peaks/", "10000 PFLOP/s");
}

TEST_CASE("a bare quantity without its unit, or with another, is refused where it is") {
  const auto refused = [](const std::string& bandwidth, const std::string& words) {
    const std::string text =
        R"({"format":"plumbline.machine/1","cluster":{"name":"x","fabric":"none","nodes":[{"name":"n",)"
        R"("device":"H100-SXM-80GB","devices_per_node":8,"interconnect":{"kind":"pcie","bandwidth":)" +
        bandwidth + "}}]}}";
    CHECK_THROWS_WITH(
        read(text), ContainsSubstring("my.json:/cluster/nodes/0/interconnect/bandwidth: ") && ContainsSubstring(words));
  };
  refused("\"450\"", "has no unit");
  refused("\"450 Gbps\"", "has an unknown unit; expected a number followed by one of");
  refused("450", "a string");
  refused("\"0 GB/s\"", "beyond any machine");
}

TEST_CASE("counts are whole and positive") {
  refuses("\"devices_per_node\":8", "\"devices_per_node\":0", node + "/devices_per_node", "a whole number from 1");
  refuses("\"devices_per_node\":8", "\"devices_per_node\":-8", node + "/devices_per_node", "a whole number from 1");
  refuses("\"devices_per_node\":8", "\"devices_per_node\":8.5", node + "/devices_per_node", "a whole number from 1");
  refuses("\"devices_per_node\":8", "\"devices_per_node\":3", node + "/interconnect/domain_devices", "a multiple of");
}

TEST_CASE("names of choices are refused with the list and the nearest") {
  refuses("\"nvlink_switch\"", "\"nvlink-switch\"", node + "/interconnect/kind", "nearest: nvlink_switch");
  refuses("\"hopper\"", "\"hoper\"", node + "/device/architecture", "nearest: hopper");
  refuses("\"intel\"", "\"via\"", node + "/cpu_vendor", "one of intel, amd, arm");
  refuses("\"bf16\":", "\"bf17\":", node + "/device/peaks/bf17", "nearest: bf16");
  refuses("\"kind\":\"measured\"", "\"kind\":\"guessed\"", node + "/device/memory/kind",
          "datasheet, measured, published");
  refuses("\"date\":\"2024-06\"", "\"date\":\"June\"", node + "/device/price_usd_per_hour/date", "2024-05");
}

TEST_CASE("a number without a source is refused") {
  const std::string source =
      "79.10 GiB, the total capacity of PyTorch out-of-memory messages on H100 80GB (cudaMemGetInfo; 79.10 to 79.19 by "
      "driver); "
      "nvidia-smi counts 81559 MiB";
  refuses("\"source\":\"" + source + "\"", "\"source\":\"\"", node + "/device/memory/source", "empty source");
}

TEST_CASE("levels must grow outwards and may not promise more than full bisection") {
  refuses("\"nodes_per_group\":1024", "\"nodes_per_group\":32", "/cluster/fabric/levels/1/nodes_per_group",
          "larger than the one before");
  refuses("\"value\":1.0", "\"value\":0.5", "/cluster/fabric/levels/0/oversubscription/value", "a number from 1");
}

TEST_CASE("a device or fabric that nobody knows is refused with the nearest name") {
  const std::string text =
      R"({"format":"plumbline.machine/1","cluster":{"name":"x","fabric":"infiniband-nrd","nodes":[{"name":"n",)"
      R"("device":"H100-SXM-80G"}]}})";
  CHECK_THROWS_WITH(read(text), ContainsSubstring("my.json:/cluster/nodes/0/device: unknown device") &&
                                    ContainsSubstring("H100-SXM-80GB"));
}

TEST_CASE("an empty document is refused") {
  CHECK_THROWS_WITH(read(R"({"format":"plumbline.machine/1"})"), ContainsSubstring("a device, a fabric or a cluster"));
  CHECK_THROWS_AS(read("[]"), InputError);
  CHECK_THROWS_AS(read(R"({"format":"plumbline.machine/1","cluster":{"name":"x","fabric":"none","nodes":[]}})"),
                  InputError);
}

}  // namespace plumbline::machine_json_test
