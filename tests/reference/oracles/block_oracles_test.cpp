// Frontiers inside a block against solved instances: all sets of saved values, and an integer programme.

#include "tests/block_choices.h"
#include "tests/catch.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline {
namespace {

/// One value per op; the block's input `x` is free.
RecomputeProblem problem_of(JsonObject& row) {
  RecomputeProblem problem;
  std::map<std::string, std::int32_t> value_of{{"x", problem.add_value({"x", Bytes(0), -1, false})}};
  for (const JsonPlace& place : row.at("ops").elements()) {
    JsonObject op(place);
    const std::string name = op.at("name").string();
    RecomputeOp own{name, Picoseconds(count_at(op, "time")), {}, {}, true};
    for (const JsonPlace& input : op.at("inputs").elements()) own.inputs.push_back(value_of.at(input.string()));
    const auto index = static_cast<std::int32_t>(problem.ops.size());
    problem.ops.push_back(own);
    value_of[name] = problem.add_value({name, Bytes(count_at(op, "size")), index, op.at("needed").boolean()});
  }
  return problem;
}

std::vector<std::vector<std::int64_t>> points_of(const std::vector<RecomputeChoice>& choices) {
  std::vector<std::vector<std::int64_t>> points;
  for (const RecomputeChoice& choice : choices) points.push_back({choice.saved.value(), choice.time.value()});
  return points;
}

TEST_CASE("frontiers of a GPT and a Llama block and their corners are those of the solved instances") {
  CHECK(for_each_instance("block", [](JsonObject& row) {
          const RecomputeProblem problem = problem_of(row);
          INFO(row.at("id").string());
          CHECK(points_of(block_frontier(problem)) == lists_at(row, "frontier"));
          CHECK(points_of(frontier_hull(problem)) == lists_at(row, "hull"));
        }) == 2);
}

}  // namespace
}  // namespace plumbline
