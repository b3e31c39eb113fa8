// What generations of devices can do, by NVIDIA's and AMD's own statements, and that the catalogue agrees.

#include "core/machine/abilities.h"

#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline::abilities_test {
namespace {

Device device_of(const char* machine) { return find_machine(machine).groups.front().node.device; }

}  // namespace

TEST_CASE("every generation has a row with a source") {
  for (const DeviceArchitecture architecture : all_device_architectures) {
    CAPTURE(to_text(architecture));
    CHECK(abilities(architecture).architecture == architecture);
    CHECK(!abilities(architecture).source.empty());
  }
}

TEST_CASE("bf16 and tf32 came with Ampere, fp8 with Ada and Hopper, fp4 and scaled blocks with Blackwell") {
  for (const char* machine : {"dgx1-v100", "t4-pcie"}) {
    CHECK(has_units(device_of(machine), NumberFormat::fp16));
    CHECK_FALSE(has_units(device_of(machine), NumberFormat::bf16));
    CHECK_FALSE(has_units(device_of(machine), NumberFormat::tf32));
  }
  CHECK(has_units(device_of("dgx-a100-80g"), NumberFormat::bf16));
  CHECK(has_units(device_of("dgx-a100-80g"), NumberFormat::tf32));
  CHECK_FALSE(has_units(device_of("dgx-a100-80g"), NumberFormat::fp8_e4m3));
  for (const char* machine : {"rtx4090-pcie", "dgx-h100"}) CHECK(has_units(device_of(machine), NumberFormat::fp8_e4m3));
  CHECK_FALSE(device_of("dgx-h100").scales_blocks());
  CHECK(device_of("dgx-b200").scales_blocks());
  CHECK(has_units(device_of("dgx-b200"), NumberFormat::fp4));
  CHECK_FALSE(has_units(device_of("mi250x"), NumberFormat::tf32));
  CHECK(has_units(device_of("mi300x"), NumberFormat::tf32));
  CHECK(has_units(device_of("cpu"), NumberFormat::fp8_e5m2));
}

// A file that gives a peak for a format that its generation does not have, or none for one that it has, is wrong.
TEST_CASE("peaks in the catalogue are of formats that their generation multiplies") {
  for (const std::string& name : machine_names())
    for (const NodeGroup& group : find_machine(name).groups) {
      const Device& device = group.node.device;
      if (device.architecture == DeviceArchitecture::cpu) continue;
      CAPTURE(device.name);
      const Abilities& able = abilities(device.architecture);
      CHECK(device.peaks.contains(NumberFormat::bf16) == able.bf16);
      CHECK(device.peaks.contains(NumberFormat::tf32) == able.tf32);
      CHECK(device.peaks.contains(NumberFormat::fp8_e4m3) == able.fp8);
      CHECK(device.peaks.contains(NumberFormat::fp4) == able.fp4);
    }
}

}  // namespace plumbline::abilities_test
