#include "planner/present/onnx_table.h"

#include "tests/catch.h"

namespace plumbline::present {

TEST_CASE("Unknown operators stand in the table of an ONNX graph, with their count") {
  OnnxSummary summary;
  summary.work.flops[0] = Flops(2e9);
  summary.work.unknown = {{"acme.Mystery", 2}};
  const Table table = onnx_table(summary);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[0][0].text == "matmul");
  CHECK(table.rows[3][0].text == "UNKNOWN operator acme.Mystery, counted as no work");
  CHECK(table.rows[3][1].text == "2 times");
}

}  // namespace plumbline::present
