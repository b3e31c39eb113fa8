// Records of runs are refused in one line that names the key.

#include "core/io/run_record_json.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/sample_record.h"

namespace plumbline::run_record_json_test {
namespace {

/// What the reader says of the sample record after one replacement in its text.
std::string refusal(const std::string& found, const std::string& replacement) {
  std::string text = to_json_text(to_json(sample_record()));
  const std::size_t at = text.find(found);
  REQUIRE(at != std::string::npos);
  text.replace(at, found.size(), replacement);
  try {
    const Json json = parse_json(text, "m.json");
    (void)run_record_from_json(JsonPlace(json, "m.json"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a record of another format or version is refused") {
  CHECK(refusal("plumbline.measurement/2", "plumbline.measurement/3").find("m.json:/format") == 0);
}

TEST_CASE("an unknown key of a record is refused with the nearest") {
  CHECK(refusal("\"sent_per_step\"", "\"sent_per_steps\"").find("m.json:/ranks/0") == 0);
  CHECK(refusal("\"arena_bytes\": 8192", "\"arena_bytes\": 8192, \"arenabytes\": 1").find("nearest: arena_bytes") !=
        std::string::npos);
}

TEST_CASE("names of actions, streams and memory classes are the program's") {
  CHECK(refusal("\"kind\": \"forward\"", "\"kind\": \"foreward\"") ==
        "m.json:/ranks/0/actions/0/kind: \"foreward\" is unknown; expected one of forward, backward, backward-input, "
        "backward-weight, recompute, send-forward, receive-forward, send-backward, receive-backward, "
        "all-gather-parameters, release-parameters, reduce-gradients, tensor-collective, context-collective, "
        "expert-collective, optimizer-step, offload, fetch; nearest: forward");
  CHECK(refusal("\"stream\": \"compute\"", "\"stream\": \"comput\"").find("nearest: compute") != std::string::npos);
  CHECK(refusal("\"activations\": 100", "\"activation\": 100").find("nearest: activations") != std::string::npos);
}

TEST_CASE("parts of a device's memory are the program's, and a device has a rank") {
  CHECK(refusal("\"modules\": 65536", "\"module\": 65536").find("nearest: modules") != std::string::npos);
  CHECK(refusal("\"modules\": 65536", "\"modules\": -1").find("m.json:/ranks/1/memory/device/parts/modules") == 0);
  CHECK(refusal("\"ranks_on_device\": 2", "\"ranks_on_device\": 0").find("m.json:/ranks/1/memory/device") == 0);
}

TEST_CASE("ranks stand in order, and nothing ends before it starts") {
  CHECK(refusal("\"rank\": 1,", "\"rank\": 0,").find("m.json:/ranks/1/rank") == 0);
  CHECK(refusal("\"end_ns\": 110", "\"end_ns\": 9").find("m.json:/ranks/0/actions/0/end_ns") == 0);
  CHECK(refusal("\"traced_step\": 3", "\"traced_step\": 0").find("m.json:/traced_step") == 0);
  CHECK(refusal("\"traced_step\": 3", "\"traced_step\": 5").find("m.json:/traced_step") == 0);
  CHECK(refusal("\"warmup_steps\": 1", "\"warmup_steps\": 5").find("m.json:/warmup_steps") == 0);
}

TEST_CASE("a loss may be null but not missing") {
  CHECK(refusal("\"loss\": 5.5,", "\"loss\": null,") == "accepted");
  CHECK(refusal("\"loss\": 5.5,", "") == "m.json:/steps/0: key \"loss\" is missing");
}

}  // namespace plumbline::run_record_json_test
