// Runs as experiment trackers keep them.
#include "planner/track/tracked_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "planner/track/tracker.h"
#include "planner/track/wire.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using namespace std::chrono_literals;

constexpr std::array tracker_names{"tensorboard", "mlflow", "wandb"};

RunRecord sample_record() {
  RunRecord record;
  record.model = "nano-gpt";
  record.tokens_per_step = 100;
  for (std::int64_t step = 7; step < 10; ++step) {
    StepRecord one;
    one.step = step;
    one.loss = 5.0 - 0.1 * static_cast<double>(step);
    one.time_ns = 2'000'000'000;
    record.steps.push_back(one);
  }
  record.steps.back().held_out_loss = 4.5;
  record.steps.back().outcome = StepOutcome::skipped;
  record.ranks.resize(2);
  return record;
}

std::optional<double> number(const std::vector<TrackedNumber>& all, const std::string& name) {
  for (const TrackedNumber& one : all)
    if (one.name == name) return one.value;
  return std::nullopt;
}

TEST_CASE("the steps of a tracked run lie one behind the other before its end") {
  const TrackedRun run = tracked_run(sample_record(), Plan(), 1'000'000ms);
  CHECK(run.begin == 994'000ms);
  CHECK(run.end == 1'000'000ms);
  REQUIRE(run.steps.size() == 3);
  CHECK(run.steps[0].step == 8);
  CHECK(run.steps[0].time == 996'000ms);
  CHECK(run.steps[2].time == 1'000'000ms);
  CHECK(number(run.steps[0].numbers, "tokens_per_second") == 50.0);
  CHECK(!number(run.steps[0].numbers, "held_out_loss"));
  CHECK(number(run.steps[2].numbers, "held_out_loss") == 4.5);
  CHECK(number(run.steps[1].numbers, "skipped") == 0.0);
  CHECK(number(run.steps[2].numbers, "skipped") == 1.0);
}

TEST_CASE("a tracked run is the same one for the same record and end, and another for any other") {
  const TrackedRun run = tracked_run(sample_record(), Plan(), 1'000'000ms);
  CHECK(run.id.size() == 16);
  CHECK(tracked_run(sample_record(), Plan(), 1'000'000ms).id == run.id);
  CHECK(tracked_run(sample_record(), Plan(), 1'000'001ms).id != run.id);
  RunRecord other = sample_record();
  other.steps[0].loss += 1e-9;
  CHECK(tracked_run(other, Plan(), 1'000'000ms).id != run.id);
}

TEST_CASE("a comparison adds both sides of memory and of what was sent") {
  TrackedRun run = tracked_run(sample_record(), Plan(), 1'000'000ms);
  Comparison comparison;
  comparison.memory.push_back({1, "weights", Bytes(64), Bytes(65), "", Bytes(64)});
  comparison.communication.push_back({0, "gradient", "all-reduce", Bytes(12), Bytes(13), "", Bytes(12)});
  add(run, comparison);
  CHECK(number(run.summary, "predicted/memory_bytes/stage_1/weights") == 64.0);
  CHECK(number(run.summary, "measured/memory_bytes/stage_1/weights") == 65.0);
  CHECK(number(run.summary, "predicted/sent_bytes/stage_0/gradient/all-reduce") == 12.0);
  CHECK(number(run.summary, "measured/sent_bytes/stage_0/gradient/all-reduce") == 13.0);
}

TEST_CASE("numbers that are not finite are written where a format has them, and break none") {
  RunRecord record = sample_record();
  record.steps[1].loss = std::numeric_limits<double>::quiet_NaN();
  record.steps[2].loss = std::numeric_limits<double>::infinity();
  const TrackedRun run = tracked_run(record, Plan(), 1'000'000ms);
  for (const char* name : tracker_names) CHECK(!tracker(name, "--track").files(run).empty());
  const std::vector<TrackedFile> files = mlflow_files(run);
  const auto losses = std::find_if(files.begin(), files.end(),
                                   [](const TrackedFile& file) { return file.path.ends_with("/metrics/loss"); });
  REQUIRE(losses != files.end());
  CHECK(losses->bytes.find("998000 nan 9\n") != std::string::npos);
  CHECK(losses->bytes.find("1000000 inf 10\n") != std::string::npos);
  CHECK(wandb_files(run).front().bytes.find("NaN") == std::string::npos);
}

TEST_CASE("a run without steps is tracked too") {
  RunRecord record = sample_record();
  record.steps.clear();
  for (const char* name : tracker_names)
    CHECK(!tracker(name, "--track").files(tracked_run(record, Plan(), 1'000ms)).empty());
}

TEST_CASE("checksums are those of the published test values") {
  // "123456789": CRC-32 0xCBF43926, CRC-32C 0xE3069283 (reveng's catalogue of CRC algorithms).
  CHECK(track::crc32('1', "23456789") == 0xCBF43926U);
  const std::uint32_t crc = 0xE3069283U;
  CHECK(track::masked_crc32c("123456789") == ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
}

TEST_CASE("a message is encoded as the protocol's documentation shows") {
  // protobuf.dev/programming-guides/encoding: 08 96 01; 12 07 "testing"; a message in field 3: 1a 03 08 96 01.
  CHECK(track::Message().integer(1, 150).bytes() == "\x08\x96\x01");
  CHECK(track::Message().text(2, "testing").bytes() == "\x12\x07testing");
  CHECK(track::Message().message(3, track::Message().integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01");
}

}  // namespace
}  // namespace plumbline
