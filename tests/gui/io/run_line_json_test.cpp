#include "gui/io/run_line_json.h"

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

}  // namespace plumbline::gui
