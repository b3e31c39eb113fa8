#include "models/parameter_id.h"

#include <algorithm>

#include "models/calibration_numbers.h"
#include "models/calibration_set.h"
#include "tests/catch.h"

namespace plumbline {

TEST_CASE("every number of the shipped set is found again by its text") {
  const std::vector<ParameterId> all = parameters_of(CalibrationSet::shipped());
  CHECK(all.size() > 400);
  for (const ParameterId& id : all) {
    CAPTURE(to_text(id));
    CHECK(parameter_id_from_text(to_text(id)) == id);
    CHECK(to_text(id) == place_of(id) + "/" + id.field);
  }
}

TEST_CASE("ids are ordered as their texts are") {
  std::vector<ParameterId> all = parameters_of(CalibrationSet::shipped());
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const ParameterId& a, const ParameterId& b) { return to_text(a) < to_text(b); }));
  // '-' comes before '/': a longer name of a stack may come first.
  CHECK(ParameterId::of_stack("a-b", "step_factor") < ParameterId::of_stack("a", "step_factor"));
}

TEST_CASE("a text of another form is no id") {
  for (const char* text : {"", "base", "base/a/b", "device/h100", "device/h100/products/bf16", "stack/a",
                           "device/h100/products/bf17/peak_fraction", "trait/fusion/compiled", "network/a/b"})
    CHECK_FALSE(parameter_id_from_text(text).has_value());
  CHECK(parameter_id_from_text("device/h100/products/bf16/peak_fraction") ==
        ParameterId::of_product("h100", NumberFormat::bf16, "peak_fraction"));
}

}  // namespace plumbline
