#include "core/machine/device.h"

#include <set>

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

template <class Values>
void require_distinct_names(const Values& values) {
  std::set<std::string_view> names;
  for (const auto value : values) names.insert(to_text(value));
  CHECK(names.size() == std::size(values));
  CHECK(names.count("") == 0);
}

// Machine files are read by these names.
TEST_CASE("every value of a machine enum has a name of its own") {
  require_distinct_names(all_device_architectures);
  require_distinct_names(all_source_kinds);
  require_distinct_names(all_interconnect_kinds);
  require_distinct_names(all_cpu_vendors);
  require_distinct_names(all_nic_paths);
}
