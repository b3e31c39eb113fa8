// A record of a run reads back as it was written.

#include "core/io/run_record_json.h"

#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "tests/catch.h"
#include "tests/sample_record.h"
#include "tests/temporary_folder.h"

namespace plumbline::io_run_record_json_test {
namespace {

RunRecord read_back(const std::string& text) {
  const Json json = parse_json(text, "m.json");
  return run_record_from_json(JsonPlace(json, "m.json"));
}

}  // namespace

TEST_CASE("a record of a run reads back equal and is written as the same bytes") {
  const RunRecord record = sample_record();
  const std::string text = to_json_text(to_json(record));
  const RunRecord back = read_back(text);
  CHECK(back == record);
  CHECK(to_json_text(to_json(back)) == text);
}

TEST_CASE("a loss that was no number stays none") {
  RunRecord record = sample_record();
  record.steps[1].loss = std::numeric_limits<double>::quiet_NaN();
  record.steps[2].loss = std::numeric_limits<double>::infinity();
  const std::string text = to_json_text(to_json(record));
  const RunRecord back = read_back(text);
  CHECK(std::isnan(back.steps[1].loss));
  CHECK(std::isnan(back.steps[2].loss));
  CHECK(to_json_text(to_json(back)) == text);
}

TEST_CASE("a record is read from its file, whose name stands before what is wrong with it") {
  const TemporaryFolder folder;
  const std::string file = (folder / "m.json").string();
  write_output_file(file, to_json_text(to_json(sample_record())));
  CHECK(read_run_record_file(file) == sample_record());
  write_output_file(file, "{}");
  try {
    (void)read_run_record_file(file);
    FAIL("an empty object is no record");
  } catch (const InputError& error) {
    CHECK(error.problem().where.find(file + ":") == 0);
  }
}

TEST_CASE("steps of a record count from 1, and those of a record of format 1 from 0") {
  const RunRecord record = sample_record();
  std::string text = to_json_text(to_json(record));
  REQUIRE(text.find("\"step\": 1,") != std::string::npos);
  REQUIRE(text.find("\"step\": 0,") == std::string::npos);
  for (std::size_t at = 0; (at = text.find("\"step\": ", at)) != std::string::npos; ++at) --text[at + 8];
  const std::size_t traced = text.find("\"traced_step\": ");
  --text[traced + 15];
  text.replace(text.find("measurement/2"), 13, "measurement/1");
  const Json json = parse_json(text, "old.json");
  CHECK(to_json_text(to_json(run_record_from_json(JsonPlace(json, "old.json")))) == to_json_text(to_json(record)));
}

TEST_CASE("what is reported of a step is its record, its speed and the time left") {
  ReportedStep reported;
  reported.step = sample_record().steps.front();
  reported.tokens_per_s = 1000;
  reported.model_flops = FlopsPerSecond(2e9);
  reported.utilisation = 0.5;
  reported.utilisation_of = "calibrated";
  reported.time_left_s = 3;
  const Json json = to_json(reported);
  CHECK(*json.find("loss")->if_double() == 5.5);
  CHECK(*json.find("tokens_per_s")->if_double() == 1000);
  CHECK(*json.find("model_flops_per_s")->if_double() == 2e9);
  CHECK(*json.find("utilisation_of")->if_string() == "calibrated");
  CHECK(*json.find("time_left_s")->if_double() == 3);
  CHECK(json.find("generated") == nullptr);
  reported.generated = "a text";
  CHECK(*to_json(reported).if_object()->back().second.if_string() == "a text");
}

TEST_CASE("the median step leaves the warm-up out") {
  // 4, 2 and 1 s after one step of warm-up.
  CHECK(median_step_ns(sample_record()) == 2'000'000'000);
  CHECK(tokens_per_second(sample_record()) == 500.0);
  RunRecord only_warmup = sample_record();
  only_warmup.warmup_steps = 4;
  CHECK(median_step_ns(only_warmup) == 0);
  CHECK(tokens_per_second(only_warmup) == 0.0);
  CHECK(median({4, 1, 3, 2}) == 2);
}

}  // namespace plumbline::io_run_record_json_test
