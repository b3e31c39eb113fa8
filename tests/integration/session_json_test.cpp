// What the command prints with --json is what a session answers, written by the readers' own functions.

#include <array>
#include <cstdio>
#include <filesystem>

#include "core/io/plan_json.h"
#include "core/io/rank_map_json.h"
#include "planner/session/explain/explain.h"
#include "planner/session/fit/fit.h"
#include "planner/session/fit/fit_json.h"
#include "planner/session/search/search_json.h"
#include "planner/session/simulate/simulate.h"
#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session {
namespace {

/// Standard output of the `plan` that was built alongside this test.
std::string output_of(const std::string& arguments) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command = "\"" + (here / "plan").string() + "\" " + arguments + " 2>/dev/null";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), n);
  ::pclose(pipe);
  return text;
}

const std::string question = "--model gpt2 --machine dgx-h100 --gpus 8 --global-batch 64 ";

TEST_CASE("plan search --json is a session's search") {
  SearchRequest request;
  request.question = small_request().question;
  request.top = 2;
  request.pareto = true;
  request.fixes = "pp=1|2";
  CHECK(output_of("search " + question + "--top 2 --pareto --fix 'pp=1|2' --json") ==
        to_json_text(to_json(search(request))));
}

TEST_CASE("plan fit, estimate, explain and simulate --json are those of a session") {
  StrategyRequest request = small_request();
  request.strategy.strategy.pipeline_stages = 2;
  const PricedQuestion asked = estimate(request);
  CHECK(output_of("fit " + question + "--pp 2 --json") == to_json_text(fit_json(asked.plan, fit(asked))));
  CHECK(output_of("estimate " + question + "--pp 2 --json") == to_json_text(to_json(asked.plan)));
  CHECK(output_of("estimate " + question + "--pp 2 --ranks --json") == to_json_text(plan_with_ranks_json(asked.plan)));
  CHECK(output_of("explain " + question + "--pp 2 --json") == to_json_text(to_json(explain(asked))));
  const auto simulated = simulate(asked);
  REQUIRE(simulated);
  CHECK(output_of("simulate " + question + "--pp 2 --json") ==
        to_json_text(
            to_json(simulated->simulated.program, simulated->simulated.simulation, setting_of(asked, *simulated))));
}

}  // namespace
}  // namespace plumbline::session
