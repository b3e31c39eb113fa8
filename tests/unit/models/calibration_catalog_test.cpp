#include "models/calibration_catalog.h"

#include <set>

#include "core/io/calibration_json.h"
#include "models/embedded.h"
#include "models/machine_catalog.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("every calibration and stack of the catalogue can be read, and every coefficient names its source") {
  int files = 0;
  for (const embedded::EmbeddedFile& file : embedded::calibrations()) {
    const Json json = parse_json(file.text, file.name);
    const JsonPlace place(json, std::string(file.name));
    const auto all = file.name.starts_with("stack-") ? coefficients(stack_calibration_from_json(place))
                                                     : coefficients(device_calibration_from_json(place));
    for (const NamedCoefficient& c : all) {
      CAPTURE(file.name, c.name);
      CHECK_FALSE(c.coefficient.source.empty());
    }
    ++files;
  }
  CHECK(files >= 18);
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
