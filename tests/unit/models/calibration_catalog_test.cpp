#include "models/calibration_catalog.h"

#include <set>

#include "core/io/calibration_json.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("every device and stack of the catalogue is whole, and every coefficient names its source") {
  const auto check_sources = [](const std::string& name, const std::vector<NamedCoefficient>& all) {
    for (const NamedCoefficient& c : all) {
      CAPTURE(name, c.name, c.coefficient.source);
      CHECK_THAT(c.coefficient.source, Catch::Matchers::ContainsSubstring(" "));  // one word names no source
    }
  };
  for (const DeviceCalibration& device : CalibrationSet::shipped().devices())
    check_sources(device.name, coefficients(device));
  for (const std::string& name : stack_names()) check_sources(name, coefficients(find_stack(name)));
  CHECK(CalibrationSet::shipped().devices().size() + stack_names().size() >= 18);
}

TEST_CASE("every device of the machine catalogue has a calibration, its own or the generic one") {
  std::set<std::string> own;
  for (const Device& device : machine_parts().devices) {
    const DeviceCalibration calibration = calibration_of(device);
    CHECK_FALSE(calibration.products.empty());
    own.insert(calibration.name);
  }
  CHECK(own.count("a100") == 1);
  CHECK(own.count("h100") == 1);
  CHECK(own.count("generic-gpu") == 1);
}

TEST_CASE("a calibration is found by device, not by likeness: H100 at 500 W is another device") {
  CHECK(calibration_of(find_machine("dgx-h100").groups.front().node.device).name == "h100");
  CHECK(calibration_of(find_machine("dgx-a100-80g").groups.front().node.device).name == "a100");
  CHECK(calibration_of(find_machine("h100-500w-roce").groups.front().node.device).name == "h100-500w");
  CHECK(calibration_of(find_machine("cpu").groups.front().node.device).name == "cpu");
}

}  // namespace plumbline
