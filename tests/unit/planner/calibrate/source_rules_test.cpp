#include "planner/calibrate/source_rules.h"

#include "tests/catch.h"
#include "tests/unit/planner/validate/published_runs.h"

using namespace plumbline;

namespace {

const RunSet& set_of(std::string_view name) {
  for (const RunSet& set : rows_of_catalogue())
    if (set.name == name) return set;
  FAIL("no source " << name);
  return rows_of_catalogue().front();
}

bool decides(const RunRuleTable& table, const std::string& field, const std::string& value) {
  return std::any_of(table.rules.begin(), table.rules.end(), [&](const RunRule& rule) {
    return std::find(rule.then.begin(), rule.then.end(), std::pair(field, value)) != rule.then.end();
  });
}

}  // namespace

TEST_CASE("A source that is tested loses the rules of its file, but not its doubts") {
  const RunSet& before = set_of("megatron_bridge");
  const RunSet after = without_own_rules(before);
  CHECK(before.rules.assumptions.size() > 10);
  CHECK(after.rules.assumptions.empty());
  REQUIRE_FALSE(after.rules.meanings.empty());
  for (const RunRule& rule : after.rules.meanings) CHECK((!rule.skip.empty() || rule.then.front().first == "doubtful"));
  CHECK(after.runs.size() == before.runs.size());
}

// Only llm_foundry has runs of llm-foundry; NeMo's stack is chosen for runs of other sources too.
TEST_CASE("Of the rules that hold for all, those that name software of this source alone are left out") {
  const RunRuleTable before = run_assumptions();
  CHECK(decides(before, "stack", "llm-foundry"));
  const RunRuleTable after = without_rules_for(before, "llm_foundry", rows_of_catalogue());
  CHECK_FALSE(decides(after, "stack", "llm-foundry"));
  CHECK(decides(after, "stack", "nemo-fp8"));
  CHECK(decides(after, "stack", "unknown"));
  CHECK(decides(after, "machine", "dgx-h100"));  // names no software
  CHECK(decides(without_rules_for(before, "karpathy", rows_of_catalogue()), "stack", "llm-foundry"));
}

TEST_CASE("A run of a framework that no rule names is priced by a stack of the unknown framework") {
  const RunSet unknown = of_unknown_framework(set_of("llm_foundry"));
  const RunQuestion& run = unknown.runs.front().question;
  CHECK(run.fields.word("framework") ==
        "(unknown) " + set_of("llm_foundry").runs.front().question.fields.word("framework"));
  const Resolution read = resolver_of_catalogue().resolve(run, unknown);
  REQUIRE(read.run);
  CHECK(read.run->question.text().stack == "unknown-sharded");  // its parameters are, it says
  CHECK(resolved_row(run.id).run->question.text().stack == "llm-foundry");
}
