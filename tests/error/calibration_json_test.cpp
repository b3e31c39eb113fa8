// Calibration files are read strictly: each mistake is named with its place, what was expected and the nearest word.

#include "core/io/calibration_json.h"
#include "core/base/errors.h"
#include "models/calibration_catalog.h"
#include "models/embedded.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::string stack_text() {
  for (const embedded::EmbeddedFile& file : embedded::calibrations())
    if (file.name == "stack-megatron-core") return std::string(file.text);
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  try {
    const Json json = parse_json(text, "s.json");
    (void)stack_calibration_from_json(JsonPlace(json, "s.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a stack file of the catalogue is accepted") { CHECK(refusal(stack_text()) == "accepted"); }

TEST_CASE("a misspelt coefficient is named with the nearest") {
  CHECK(refusal(replaced(stack_text(), "\"loss_factor\"", "\"los_factor\"")) ==
        "s.json: key \"loss_factor\" is missing; nearest: los_factor, flash_factor");
}

TEST_CASE("a coefficient that physics forbids is refused with its range") {
  const std::string text = replaced(stack_text(), "\"pipeline_exposure\": {\n    \"value\": 0.28",
                                    "\"pipeline_exposure\": {\n    \"value\": -0.28");
  CHECK(refusal(text) == "s.json:/pipeline_exposure/value: found a number -0.28; expected a number from 0.0 to 10.0");
}

TEST_CASE("a coefficient says where it comes from, in one of three words") {
  CHECK(refusal(replaced(stack_text(), "\"kind\": \"fitted\"", "\"kind\": \"guessed\"")) ==
        "s.json:/step_factor/kind: \"guessed\"; expected fitted, measured or assumed");
}

TEST_CASE("a file of another format is refused") {
  CHECK(refusal(replaced(stack_text(), "plumbline.stack/1", "plumbline.stack/9")) ==
        "s.json:/format: \"plumbline.stack/9\"; expected \"plumbline.stack/1\"");
}

TEST_CASE("an unknown stack gets the nearest names") {
  try {
    (void)find_stack("megatron-cor");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(
        std::string(error.what()) ==
        "stack: \"megatron-cor\" is unknown; expected the name of a software stack or a file; nearest: megatron-core");
  }
}

}  // namespace plumbline
