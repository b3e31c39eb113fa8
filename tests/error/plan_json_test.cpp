#include "core/io/plan_json.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/sample_plan.h"

namespace plumbline::plan_json_test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What the reader says about the sample plan with `from` replaced by `to`, or "accepted".
std::string refusal(const std::string& from, const std::string& to) {
  std::string text = to_json_text(to_json(sample_plan()), -1);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    const Json json = parse_json(text, "plan.json");
    (void)plan_from_json(JsonPlace(json, "plan.json:"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_CASE("the sample plan itself is accepted") { CHECK(refusal("tiny", "tiny") == "accepted"); }

TEST_CASE("a plan of another format is refused") {
  CHECK_THAT(refusal("plumbline.plan/1", "plumbline.plan/9"),
             ContainsSubstring("plan.json:/format: \"plumbline.plan/9\"; expected \"plumbline.plan/1\""));
}

TEST_CASE("an unknown key is named with its pointer and the nearest one") {
  CHECK_THAT(refusal("\"zero_stage\"", "\"zero_stag\""),
             ContainsSubstring("plan.json:/strategy: key \"zero_stage\" is missing"));
  CHECK_THAT(refusal("\"lora_rank\"", "\"lora_rnk\""),
             ContainsSubstring("plan.json:/training/lora_rnk: unknown key; nearest: lora_rank"));
  CHECK_THAT(refusal("\"mfu\"", "\"mfuu\""),
             ContainsSubstring("plan.json:/prediction/mfuu: unknown key; nearest: mfu"));
  CHECK_THAT(refusal("\"fits\"", "\"fts\""), ContainsSubstring("plan.json:/verdict/fts: unknown key; nearest: fits"));
}

TEST_CASE("a wrong type names what was found and what was expected") {
  CHECK_THAT(
      refusal("\"tensor_parallel\":2", "\"tensor_parallel\":\"2\""),
      ContainsSubstring("plan.json:/strategy/tensor_parallel: found a string \"2\"; expected a whole number from 1"));
  CHECK_THAT(refusal("\"sequence_parallel\":true", "\"sequence_parallel\":1"),
             ContainsSubstring("expected true or false"));
}

TEST_CASE("a mistyped choice gets the nearest one") {
  CHECK_THAT(refusal("\"interleaved\"", "\"interleave\""),
             ContainsSubstring("/strategy/schedule: \"interleave\" is unknown"));
  CHECK_THAT(refusal("\"interleaved\"", "\"interleave\""), ContainsSubstring("nearest: interleaved"));
  CHECK_THAT(refusal("\"muon\"", "\"moun\""), ContainsSubstring("nearest: muon"));
  CHECK_THAT(
      refusal("\"every:2\"", "\"every:0\""),
      ContainsSubstring(
          "expected none, selective, selective:MODULE+..., full, every:N, uniform:N, block:N, sqrt, by-operator, "
          "offload:N, optimal; nearest: every:2"));
}

TEST_CASE("negative and absurd numbers are refused before anybody multiplies them") {
  CHECK_THAT(refusal("\"data_parallel\":2", "\"data_parallel\":-2"),
             ContainsSubstring("/strategy/data_parallel: found an integer -2"));
  CHECK_THAT(refusal("\"data_parallel\":2", "\"data_parallel\":10000000"),
             ContainsSubstring("multiply up to more than 10000000"));
  CHECK_THAT(refusal("\"micro_batch\":4", "\"micro_batch\":1000000000"),
             ContainsSubstring("multiply up to more than 1000000000"));
  CHECK_THAT(refusal("\"global_batch\":64", "\"global_batch\":0"),
             ContainsSubstring("/training/global_batch: found an integer 0"));
  CHECK_THAT(refusal("\"sample\":\"sequence\"", "\"sample\":\"pixel\""),
             ContainsSubstring("sequence, sample or image"));
  CHECK_THAT(refusal("\"token_budget\":1000000000", "\"token_budget\":1e400"), ContainsSubstring("out of range"));
}

TEST_CASE("a layer range must have two ends in order") {
  CHECK_THAT(refusal("[[0,1],[3,3]]", "[[0,1,2]]"), ContainsSubstring("/training/frozen_layers/0: 3 numbers"));
  CHECK_THAT(refusal("[[0,1],[3,3]]", "[[2,1]]"), ContainsSubstring("/training/frozen_layers/0/1: found an integer 1"));
}

TEST_CASE("what follows from the rest may be absent") {
  Json::Object plan = *to_json(sample_plan()).if_object();
  std::erase_if(plan, [](const Json::Member& member) {
    return member.first == "layout" || member.first == "prediction" || member.first == "run" ||
           member.first == "verdict" || member.first == "provenance";
  });
  const Json json(plan);
  CHECK(plan_from_json(JsonPlace(json, "plan.json:")).strategy == sample_plan().strategy);
}

}  // namespace
}  // namespace plumbline::plan_json_test
