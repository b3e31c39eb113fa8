// What can be asked by flags alone.
#include "planner/session/use_case/use_case.h"

#include <algorithm>
#include <set>

#include "tests/catch.h"
#include "tests/unit/planner/session/requests.h"

namespace plumbline::session::use_case_test {
namespace {

/// Throws InputError naming the flag.
void give(UseCase& asked, const std::string& flag, const std::string& text) {
  const auto found = std::find_if(asked.options.begin(), asked.options.end(),
                                  [&](const BoundOption& option) { return option.words.flag == flag; });
  REQUIRE(found != asked.options.end());
  found->give(text);
}

TEST_CASE("every use-case is found by its name, and has each of its flags once") {
  REQUIRE_FALSE(use_cases().empty());
  for (const UseCaseRow& row : use_cases()) {
    const std::optional<UseCase> asked = use_case(row.name);
    REQUIRE(asked);
    std::set<std::string> flags;
    for (const BoundOption& option : asked->options) CHECK(flags.insert(option.words.flag).second);
  }
  CHECK_FALSE(use_case("prophesy"));
}

TEST_CASE("what is given by flags is answered as JSON, tables and plans") {
  UseCase asked = use_case("size").value();
  for (const auto& [flag, text] : {std::pair{"--model", "gpt2"},
                                   {"--machine", "dgx-h100"},
                                   {"--gpus", "8,16"},
                                   {"--global-batch", "512"},
                                   {"--tokens", "1B"},
                                   {"--threads", "1"},
                                   {"--fix", "pp=1,cp=1,tp=1"},
                                   {"--scaling", "both"},
                                   {"--time-limit", "60s"}})
    give(asked, flag, text);
  const Work work = asked.work({});
  CHECK(work.time_limit == Seconds(60));
  const Answer answer = work.run({});
  CHECK(answer.found);
  CHECK(answer.complete);
  CHECK(answer.json.find("plumbline.size/1") != std::string::npos);
  CHECK(answer.tables.count("strong") == 1);
  CHECK(answer.tables.count("weak") == 1);
  CHECK(answer.plans.size() == 4);
}

TEST_CASE("flags of a strategy are options of their axes") {
  UseCase asked = use_case("fit_limits").value();
  for (const auto& [flag, text] :
       {std::pair{"--model", "gpt2"}, {"--machine", "dgx-h100"}, {"--gpus", "1"}, {"--zero", "1"}})
    give(asked, flag, text);
  const Answer answer = asked.work({}).run({});
  CHECK(answer.json.find("\"strategy\": \"given\"") != std::string::npos);
  CHECK(answer.plans.size() == answer.tables.at("limits").rows.size());
}

TEST_CASE("a text that a flag does not have is refused where it is read") {
  UseCase asked = use_case("size").value();
  CHECK_THAT(refusal([&] {
               give(asked, "--tp-across-nodes", "perhaps");
               return 0;
             }),
             Catch::Matchers::StartsWith("--tp-across-nodes: "));
  give(asked, "--scaling", "sideways");
  CHECK(refusal([&] { return asked.work({}).time_limit; }) != "accepted");
}

}  // namespace
}  // namespace plumbline::session::use_case_test
