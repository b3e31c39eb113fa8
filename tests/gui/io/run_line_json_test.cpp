#include "gui/io/run_line_json.h"

#include <limits>

#include "core/io/run_record_json.h"
#include "tests/catch.h"

namespace plumbline::gui {

TEST_CASE("a line of a step tells its loss, time and throughput") {
  const auto line = run_line(
      R"({"step":3,"loss":4.25,"time_ns":790000000,"held_out_loss":4.5,"tokens_per_s":1295.5,"skipped":false})");
  REQUIRE(line);
  CHECK(line->step == 3);
  CHECK(line->loss == 4.25);
  CHECK(line->held_out_loss == 4.5);
  CHECK(line->seconds == Approx(0.79));
  CHECK(line->tokens_per_second == 1295.5);
}

TEST_CASE("any other line is none") {
  for (const char* const text :
       {"", "{", "[]", "{\"step\":1}", "{\"loss\":1.5}", "plan: written", "{\"step\":1,\"loss\":null}"})
    CHECK_FALSE(run_line(text));
}

TEST_CASE("a step of this process is what its line would be") {
  ReportedStep reported;
  reported.step.step = 2;
  reported.step.loss = 4.25;
  reported.step.time_ns = 790'000'000;
  reported.tokens_per_s = 1295.5;
  const auto same = [&reported] {
    const auto ours = run_line(reported);
    const auto theirs = run_line(to_json_text(to_json(reported), -1));
    if (!ours || !theirs) return !ours && !theirs;
    return ours->step == theirs->step && ours->loss == theirs->loss && ours->held_out_loss == theirs->held_out_loss &&
           ours->seconds == theirs->seconds && ours->tokens_per_second == theirs->tokens_per_second;
  };
  CHECK(same());
  REQUIRE(run_line(reported));
  CHECK(run_line(reported)->step == 3);
  reported.step.held_out_loss = 4.5;
  CHECK(same());
  CHECK(run_line(reported)->held_out_loss == 4.5);
  reported.step.loss = std::numeric_limits<double>::quiet_NaN();
  CHECK(same());
  CHECK_FALSE(run_line(reported));
}

}  // namespace plumbline::gui
