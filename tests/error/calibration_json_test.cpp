// Calibration files are read strictly: each mistake is named with its place, what was expected and the nearest word.

#include "core/io/calibration_json.h"

#include "core/base/errors.h"
#include "core/io/stack_json.h"
#include "models/calibration_catalog.h"
#include "models/embedded.h"
#include "tests/catch.h"

namespace plumbline::calibration_json_test {
namespace {

std::string file_text(std::string_view name) {
  for (const embedded::EmbeddedFile& file : embedded::calibrations())
    if (file.name == name) return std::string(file.text);
  FAIL("no such file");
  return "";
}

std::string stack_text() { return file_text("stack-megatron-core-0.12"); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

template <class Read>
std::string refusal_of(const std::string& text, Read read) {
  try {
    const Json json = parse_json(text, "s.json");
    (void)read(JsonPlace(json, "s.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string stack_refusal(const std::string& text) {
  return refusal_of(text, [](const JsonPlace& place) {
    const CalibrationSet& shipped = CalibrationSet::shipped();
    return software_stack_from_json(place, shipped.axis_table(), shipped.stack_names());
  });
}

std::string traits_refusal(const std::string& text) { return refusal_of(text, stack_axes_from_json); }

/// A small table in the shape of the shipped one, to break in places that the shipped one may lose.
std::string small_stack(const std::string& rest) {
  return R"({"format": "plumbline.stack/1", "name": "own", "framework": "own", "description": "own", )" + rest + "}";
}

}  // namespace

TEST_CASE("stack and traits files of the catalogue are accepted") {
  CHECK(stack_refusal(stack_text()) == "accepted");
  CHECK(traits_refusal(file_text("traits")) == "accepted");
}

TEST_CASE("a misspelt coefficient is named with the nearest") {
  CHECK(stack_refusal(small_stack(R"("like": "plumbline", "traits": {}, "coefficients": {"los_factor": 1})")) ==
        "s.json:/coefficients/los_factor: is no coefficient of a software stack; expected one of 56 "
        "(docs/calibrations.md); nearest: loss_factor, flash_factor");
}

TEST_CASE("a coefficient that physics forbids is refused with its range") {
  CHECK(stack_refusal(small_stack(R"("like": "plumbline", "traits": {}, "coefficients": {"pipeline_exposure":
        {"value": -0.28, "relative_sigma": 0, "kind": "fitted", "source": "none"}})")) ==
        "s.json:/coefficients/pipeline_exposure/value: found a number -0.28; expected a number from 0.0 to 10.0");
}

TEST_CASE("a coefficient says where it comes from, in one of three words") {
  CHECK(stack_refusal(small_stack(R"("like": "plumbline", "traits": {}, "coefficients": {"step_factor":
        {"value": 1, "relative_sigma": 0, "kind": "guessed", "source": "none"}})")) ==
        "s.json:/coefficients/step_factor/kind: \"guessed\"; expected fitted, measured or assumed");
}

TEST_CASE("a misspelt feature or choice is named with the nearest") {
  const std::string of = R"("like": "plumbline", "traits": {}, "features": )";
  CHECK(stack_refusal(small_stack(of + R"({"logit": {"choice": "own_backward", "source": "none"}})"))
            .ends_with("; nearest: logits"));
  CHECK(stack_refusal(small_stack(of + R"({"fp8_inputs": {"choice": "share", "source": "none"}})")) ==
        "s.json:/features/fp8_inputs/choice: \"share\"; expected one of as_read, fp8, shared; nearest: shared");
}

TEST_CASE("a feature may be spelled as the number that it was, but not between two choices and not twice") {
  const auto numbered = [](const std::string& value, const std::string& features) {
    return small_stack(R"("like": "plumbline", "traits": {}, "features": )" + features +
                       R"(, "coefficients": {"kept_outputs": {"value": )" + value +
                       R"(, "relative_sigma": 0, "kind": "assumed", "source": "none"}})");
  };
  CHECK(stack_refusal(numbered("1", "{}")) == "accepted");
  CHECK(stack_refusal(numbered("0.5", "{}")) ==
        "s.json:/coefficients/kept_outputs/value: lies between two choices; expected the number of one of freed, kept, "
        "from 0 on, or the feature \"stage_outputs\"");
  CHECK(stack_refusal(numbered("2", "{}")) ==
        "s.json:/coefficients/kept_outputs/value: found an integer 2; expected a number from 0.0 to 1.0");
  CHECK(stack_refusal(numbered("1", R"({"stage_outputs": {"choice": "freed", "source": "none"}})")) ==
        "s.json:/coefficients: the feature stage_outputs is set twice; expected one entry, under \"features\"");
}

TEST_CASE("a file of another format is refused") {
  CHECK(stack_refusal(replaced(stack_text(), "plumbline.stack/1", "plumbline.stack/9")) ==
        "s.json:/format: \"plumbline.stack/9\"; expected \"plumbline.stack/1\"");
}

TEST_CASE("an unknown axis, value or neighbour of a stack gets what is known and the nearest") {
  CHECK(stack_refusal(small_stack(R"("like": "plumbline", "traits": {"fusoin": "eager"})")) ==
        "s.json:/traits/fusoin: is no axis of software stacks; expected one of attention, fusion, loss, "
        "gradient_reduction, tensor_parallel_overlap, pipeline_transfers, launch, gradient_accumulation, optimizer, "
        "memory, moe; nearest: fusion");
  CHECK(stack_refusal(small_stack(R"("like": "plumbline", "traits": {"fusion": "complied"})")) ==
        "s.json:/traits/fusion: \"complied\"; expected one of eager, primitive, primitive_fused_norms, jit_fused, "
        "fused, compiled; nearest: compiled");
  CHECK(stack_refusal(small_stack(R"("like": "torchtitan-2024.21", "traits": {})"))
            .starts_with(
                "s.json:/like: \"torchtitan-2024.21\" is no stack of the catalogue; expected a name of plan stacks"));
}

TEST_CASE("a stack that is like no other decides every axis, by a trait or by numbers of its own") {
  const std::string open = replaced(stack_text(), "\"optimizer\": \"fused\",", "");
  CHECK(stack_refusal(open) ==
        "s.json:/traits: axis \"optimizer\" is missing, and optimizer_traffic_factor with it; expected one of fused, "
        "foreach, or \"like\": a stack that decides it");
  CHECK(stack_refusal(replaced(open, "\"coefficients\": {", R"("coefficients": {"optimizer_traffic_factor":
        {"value": 1, "relative_sigma": 0, "kind": "assumed", "source": "none"},)")) == "accepted");
}

TEST_CASE("a traits file in which a coefficient is set twice, nowhere or not by all values of an axis is refused") {
  const std::string number = R"({"value": 1, "relative_sigma": 0, "kind": "assumed", "source": "none"})";
  const std::string axes = file_text("traits");
  CHECK(traits_refusal(replaced(axes, "\"base\": {", "\"base\": {\"memory_bound_factor\": " + number + ",")) ==
        "s.json:/axes/1: memory_bound_factor is set twice; expected one axis or the base sets it");
  CHECK(traits_refusal(
            replaced(axes, "\"coefficients\": {\n            \"memory_bound_factor\"",
                     "\"coefficients\": {\"loss_factor\": " + number + ",\n            \"memory_bound_factor\""))
            .starts_with("s.json:/axes/1/values/1: sets other coefficients than the axis' first value"));
  const std::string regime = R"({"time": )" + number + R"(, "memory": )" + number + "}";
  CHECK(traits_refusal(R"({"format": "plumbline.traits/1", "description": "none", "base": {}, "axes": [], "regimes":
        {"calibrated": )" +
                       regime + R"(, "few_rows": )" + regime + R"(, "unknown": )" + regime + "}}") ==
        "s.json: step_factor is set nowhere; expected one axis or the base sets it");
}

TEST_CASE("residuals are read strictly: regime, numbers, ranges, names") {
  const auto refused = [](const std::string& residuals) {
    return stack_refusal(small_stack(R"("like": "plumbline", "traits": {}, "residuals": )" + residuals));
  };
  const std::string time = R"("time": {"value": 0.1, "relative_sigma": 0, "kind": "fitted", "source": "s", "rows": 3})";
  CHECK(refused(R"({"regime": "few_rows", )" + time + "}") == "accepted");
  CHECK(refused(R"({"regime": "few", )" + time + "}") ==
        "s.json:/residuals/regime: \"few\" is unknown; expected one of calibrated, few_rows, unknown; nearest: "
        "few_rows");
  CHECK(refused(R"({"regime": "few_rows", )" + time + R"(, "measured": {"gpus": [8]}})") ==
        "s.json:/residuals/measured/gpus: 1 numbers; expected the least and the most");
  CHECK(refused(R"({"regime": "few_rows", )" + time + R"(, "measured": {"gpus": [8, 4]}})")
            .starts_with("s.json:/residuals/measured/gpus/1: "));
  CHECK(refused(R"({"regime": "few_rows", )" + time + R"(, "measured": {"gpu": [8, 8]}})").find("nearest: gpus") !=
        std::string::npos);
  CHECK(refused(R"({"regime": "few_rows", )" + time + R"(, "measured": {"formats": ["fp8", "bf16"]}})") ==
        "s.json:/residuals/measured/formats: is not sorted; expected names in alphabetical order");
  CHECK(refused(R"({"regime": "few_rows", )" + replaced(time, "0.1", "-0.1") + "}") ==
        "s.json:/residuals/time/value: found a number -0.1; expected a number from 0.0 to 2.0");
  CHECK(refused(R"({"regime": "few_rows", "time": 3})").starts_with("s.json:/residuals/time: "));
}

TEST_CASE("an unknown stack gets the nearest names, aliases among them") {
  try {
    (void)find_stack("megatron-zero-bubbl");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) ==
          "stack: \"megatron-zero-bubbl\" is unknown; expected a name of plan stacks or a file; nearest: "
          "megatron-zero-bubble-2023, megatron-zero-bubble");
  }
}

}  // namespace plumbline::calibration_json_test
