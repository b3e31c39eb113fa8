// The instructions of a plan's blocks as text: every operator, every place, what recompute adds.

#include "planner/session/simulate/instructions.h"

#include "planner/session/simulate/simulate.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

std::string written(const char* recompute, std::int32_t tensor_parallel) {
  StrategyRequest request = small_request();
  request.strategy.strategy.tensor_parallel = tensor_parallel;
  request.strategy.strategy.recompute = *recompute_from_text(recompute);
  const PricedQuestion asked = estimate(request);
  return instructions_text(asked, simulate(asked)->simulated);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("every operator of every block is there, forward and backward, and blocks that are alike once") {
  StrategyRequest request = small_request();
  const PricedQuestion asked = estimate(request);
  const std::string text = instructions_text(asked, simulate(asked)->simulated);
  for (const Block& block : asked.question.graph().blocks()) {
    CHECK(count(text, block.name() + ", runs ") == 1);
    for (const Op& op : block.ops()) {
      CAPTURE(block.name(), op.name);
      // The gradient of a sum is handed on as it is: no kernel.
      CHECK(count(text, "  " + op.name + " ") >= (op.kind == OpKind::add ? 1U : 2U));
    }
  }
}

TEST_CASE("full recompute adds a pass, tensor parallelism its collectives") {
  CHECK(count(written("none", 1), "recompute:") == 0);
  CHECK(count(written("full", 1), "recompute:") == 1);
  CHECK(count(written("none", 1), " over tensor") == 0);
  CHECK(count(written("none", 2), " over tensor") >= 4);
}

}  // namespace
}  // namespace plumbline::session
