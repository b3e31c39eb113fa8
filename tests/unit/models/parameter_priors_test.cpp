#include "models/parameter_priors.h"

#include "core/base/errors.h"
#include "models/calibration_numbers.h"
#include "models/calibration_set.h"

#include "tests/catch.h"

using namespace plumbline;

TEST_CASE("A star in a path stands for any text") {
  CHECK(matches_path("stack/*/step_factor", "stack/torchtitan-2024.12/step_factor"));
  CHECK(matches_path("device/*/products/*fp8*/half_depth", "device/h100/products/fp8_e4m3/half_depth"));
  CHECK(matches_path("trait/*", "trait/fusion/eager/memory_bound_factor"));
  CHECK_FALSE(matches_path("stack/*/step_factor", "base/step_factor"));
  CHECK_FALSE(matches_path("base/step_factor", "base/step_factors"));
}

TEST_CASE("Every shipped number that a fit may move has a prior of independent source, and every prior is used") {
  const PriorTable priors = shipped_priors();
  const CalibrationSet& set = CalibrationSet::shipped();
  for (const ParameterPrior& prior : priors) {
    CHECK(prior.source.find("published training rows") == std::string::npos);
    CHECK(prior.source.find("study") == std::string::npos);
    if (prior.around) CHECK(set.has(*prior.around));
  }
  for (const ParameterId& id : parameters_of(set))
    if (id.is_of_device()) {
      INFO(to_text(id));
      CHECK(prior_of(priors, id) != nullptr);
    }
}

TEST_CASE("A prior around what is no path of a number is refused with its place") {
  const Json json = parse_json(R"({"format":"plumbline.priors/1","description":"d","priors":[
    {"paths":["stack/*/step_factor"],"value":1,"relative_sigma":0.1,"around":"step_factor","source":"s"}]})",
                               "p.json");
  try {
    (void)priors_from_json(JsonPlace(json, "p.json"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) ==
          "p.json:/priors/0/around: \"step_factor\" is no path of a number; expected a path such as base/step_factor");
  }
}

TEST_CASE("A prior without a sigma is refused with its place") {
  const Json json = parse_json(R"({"format":"plumbline.priors/1","description":"d","priors":[
    {"paths":["base/step_factor"],"value":1,"relative_sigma":0,"source":"s"}]})",
                               "p.json");
  try {
    (void)priors_from_json(JsonPlace(json, "p.json"));
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("p.json:/priors/0/relative_sigma") != std::string::npos);
  }
}
