// A measured step is drawn like a simulated one.

#include "core/simulate/run_trace.h"

#include "core/io/trace_json.h"
#include "tests/catch.h"
#include "tests/sample_record.h"

namespace plumbline {

TEST_CASE("every action of a record that took time is a slice on its stream's thread") {
  const Trace drawn = trace(sample_record());
  CHECK(drawn.ranks == 2);
  REQUIRE(drawn.slices.size() == 6);
  CHECK(drawn.slices[0].name == "forward 0");
  CHECK(drawn.slices[0].span == Span{Picoseconds(10'000), Picoseconds(110'000)});
  CHECK(drawn.slices[4].stream == Stream::pipeline);
  CHECK(drawn.slices[4].bytes == Bytes(64));
  const std::string text = trace_json_text(drawn);
  CHECK(text.find("pipeline rank 1, measured on rank 1") != std::string::npos);
}

TEST_CASE("actions of one stream that ran at one time lie on two threads") {
  RunRecord record = sample_record();
  record.ranks[0].actions[2].start_ns = 50;  // alongside the forward pass
  const Trace drawn = trace(record);
  CHECK(drawn.slices[0].lane == 0);
  CHECK(drawn.slices[2].lane == 1);
}

}  // namespace plumbline
