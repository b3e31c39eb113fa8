#include <filesystem>

#include "models/machine_catalog.h"

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "models/machine_aliases.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace plumbline;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the catalogue has the devices, nodes and fabrics that it promises") {
  std::set<std::string> devices;
  for (const Device& device : machine_parts().devices) devices.insert(device.name);
  for (const char* name : {"V100-SXM2-16GB", "V100-SXM2-32GB", "A100-SXM-40GB", "A100-SXM-80GB", "A800-SXM-80GB",
                           "H100-SXM-80GB", "H100-PCIE-80GB", "H800-SXM-80GB", "H200-SXM-141GB", "B200-SXM-180GB",
                           "GB200-NVL72", "MI250X", "MI300X", "L4", "L40S", "RTX-3090", "RTX-4090", "T4", "cpu"})
    CHECK(devices.count(name) == 1);
  const std::vector<std::string> names = machine_names();
  for (const char* name :
       {"dgx-a100-80g", "dgx-a100-40g", "dgx-h100",           "dgx-h200",     "dgx-b200",      "gb200-nvl72",
        "dgx1-v100",    "dgx2-v100",    "hgx-a800",           "hgx-h800",     "hgx-h100-pcie", "mi250x",
        "mi300x",       "aws-p4d",      "aws-p4de",           "aws-p5",       "aws-p5en",      "gcp-a3-mega",
        "gcp-a3-high",  "h100-roce",    "rtx4090-pcie",       "rtx3090-pcie", "l4-pcie",       "l40s-pcie",
        "t4-pcie",      "a10g-pcie",    "h100-ethernet-100g", "cpu"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(std::is_sorted(names.begin(), names.end()));
}

TEST_CASE("a cluster of the catalogue bears the name under which it is found and is one node") {
  for (const std::string& name : machine_names()) {
    CHECK(find_machine(name).name == name);
    CHECK(node_count(find_machine(name)) == 1);
  }
}

TEST_CASE("every alias names a cluster of the catalogue, and none hides one") {
  const std::vector<std::string> names = machine_names();
  for (const auto& [alias, name] : machine_alias_table) {
    INFO(alias);
    CHECK(find_machine(alias).name == name);
    CHECK(std::find(names.begin(), names.end(), alias) == names.end());
  }
  CHECK(find_machine("DGX-H100").name == "dgx-h100");
  CHECK(find_machine("p5.48xlarge").name == "aws-p5");
}

TEST_CASE("a mistyped machine gets the nearest names") {
  CHECK_THROWS_WITH(find_machine("dgx-h10"),
                    ContainsSubstring("machine: \"dgx-h10\"") && ContainsSubstring("dgx-h100"));
  CHECK_THROWS_AS(find_machine("no-such-file.json"), InputError);
}

TEST_CASE("datasheet facts: H100 memory and peaks, GB200's domain") {
  const Device h100 = find_machine("h100").groups.front().node.device;
  CHECK(h100.memory.value == 80998_MiB);  // 79.10 GiB, as cudaMemGetInfo says
  CHECK(h100.peak(NumberFormat::bf16) == FlopsPerSecond(989e12));
  CHECK(h100.memory_bandwidth.value == BytesPerSecond(3350e9));
  const Cluster gb200 = with_device_count(find_machine("gb200-nvl72"), 72);
  CHECK(domain_devices(gb200) == 72);
  CHECK(node_count(gb200) == 18);
}

TEST_CASE("a file of one's own may name devices and fabrics of the catalogue") {
  const TemporaryFolder folder;
  Json::Object node{{"name", "mine"}, {"device", "L40S"}, {"devices_per_node", 2}, {"cpu_vendor", "amd"}};
  const auto sourced = [](const char* value) {
    return Json(Json::Object{{"value", value}, {"source", "me"}, {"kind", "assumed"}});
  };
  node.emplace_back("interconnect", Json::Object{{"kind", "pcie"}, {"bandwidth", sourced("31.5 GB/s")}});
  node.emplace_back("host_memory", sourced("256 GiB"));
  node.emplace_back("pcie_bandwidth", sourced("31.5 GB/s"));
  node.emplace_back("host_power", sourced("300 W"));
  const Json file(
      Json::Object{{"format", "plumbline.machine/1"},
                   {"cluster", Json::Object{{"name", "mine"}, {"fabric", "none"}, {"nodes", Json::Array{node}}}}});
  const std::filesystem::path path = folder.path() / "mine.json";
  write_output_file(path, to_json_text(file));
  const Cluster mine = find_machine(path.string());
  CHECK(mine.name == "mine");
  CHECK(mine.groups.front().node.device.memory.value == 45455_MiB);  // 44.39 GiB
  CHECK_FALSE(mine.groups.front().node.network.has_value());
}
