#include "core/machine/device.h"

#include "core/machine/node.h"
#include "tests/catch.h"

using namespace plumbline;

TEST_CASE("a device without tensor cores for tf32 multiplies it at its fp32 rate") {
  Device device;
  device.peaks[NumberFormat::fp32] = {FlopsPerSecond(15.7e12)};
  CHECK(device.peak(NumberFormat::tf32) == FlopsPerSecond(15.7e12));
  CHECK(device.peak(NumberFormat::bf16) == std::nullopt);
  CHECK(device.peak(NumberFormat::fp8_e4m3) == std::nullopt);
}

TEST_CASE("the two fp8 formats stand in for each other") {
  Device device;
  device.peaks[NumberFormat::fp8_e4m3] = {FlopsPerSecond(2e15)};
  CHECK(device.peak(NumberFormat::fp8_e5m2) == FlopsPerSecond(2e15));
}

TEST_CASE("products of a format that a device lacks run at the rate of the next wider one") {
  Device volta;
  volta.peaks[NumberFormat::fp32] = {FlopsPerSecond(15.7e12)};
  volta.peaks[NumberFormat::fp16] = {FlopsPerSecond(125e12)};
  CHECK(volta.product_peak(NumberFormat::bf16) == FlopsPerSecond(125e12));
  CHECK(volta.product_peak(NumberFormat::fp8_e4m3) == FlopsPerSecond(125e12));
  CHECK(volta.product_peak(NumberFormat::tf32) == FlopsPerSecond(15.7e12));
  CHECK(volta.product_peak(NumberFormat::fp32) == FlopsPerSecond(15.7e12));
  CHECK(Device().product_peak(NumberFormat::bf16) > FlopsPerSecond(0));
}

TEST_CASE("every name of a machine enum reads back") {
  for (const auto value : all_device_architectures) CHECK(device_architecture_from_text(to_text(value)) == value);
  for (const auto value : all_source_kinds) CHECK(source_kind_from_text(to_text(value)) == value);
  for (const auto value : all_interconnect_kinds) CHECK(interconnect_kind_from_text(to_text(value)) == value);
  for (const auto value : all_cpu_vendors) CHECK(cpu_vendor_from_text(to_text(value)) == value);
  for (const auto value : all_nic_paths) CHECK(nic_path_from_text(to_text(value)) == value);
  CHECK(device_architecture_from_text("pascal") == std::nullopt);
}
