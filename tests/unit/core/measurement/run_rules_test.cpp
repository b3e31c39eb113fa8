// Rules decide open fields only, the first one that speaks wins, and a published field stays.

#include "core/measurement/run_rules.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

RunFields fields() {
  RunFields f;
  f.words["framework"] = "Megatron-LM (zero-bubble fork)";
  f.numbers["pp"] = 8;
  return f;
}

RunRule rule(std::vector<RunCondition> when, std::vector<std::pair<std::string, std::string>> then) {
  return {std::move(when), std::move(then), "", false, "a test"};
}

}  // namespace

TEST_CASE("a condition holds for any of its values, in any case, with a star for any ending") {
  CHECK(holds(rule({{"framework", {"NeMo", "megatron-lm*"}}}, {}), fields()));
  CHECK_FALSE(holds(rule({{"framework", {"Megatron-LM"}}}, {}), fields()));
  CHECK(holds(rule({{"pp", {"8"}}, {"framework", {"Megatron*"}}}, {}), fields()));
  CHECK_FALSE(holds(rule({{"pp", {"4"}}, {"framework", {"Megatron*"}}}, {}), fields()));
}

TEST_CASE("an empty value asks for an unknown field, an exclamation mark for a known one that differs") {
  CHECK(holds(rule({{"release", {""}}}, {}), fields()));
  CHECK_FALSE(holds(rule({{"pp", {""}}}, {}), fields()));
  CHECK(holds(rule({{"pp", {"!1"}}}, {}), fields()));
  CHECK_FALSE(holds(rule({{"pp", {"!8"}}}, {}), fields()));
  CHECK_FALSE(holds(rule({{"vpp", {"!1"}}}, {}), fields()));
  CHECK(holds(rule({{"pp", {"!"}}}, {}), fields()));
}

TEST_CASE("the first rule that speaks of an open field decides it, and says who says so") {
  RunRuleTable table;
  table.rules = {rule({}, {{"vpp", "2"}, {"stack", "first"}}), rule({}, {{"stack", "second"}, {"zero_stage", "1"}})};
  const RuledRun run = apply(table.rules, {fields(), {}, ""}, {});
  CHECK(run.fields.number("vpp") == 2);
  CHECK(run.fields.word("stack") == "first");
  CHECK(run.fields.number("zero_stage") == 1);
  CHECK(run.assumed ==
        std::vector<AssumedField>{{"vpp", "2", "a test"}, {"stack", "first", "a test"}, {"zero_stage", "1", "a test"}});
}

TEST_CASE("a published field is never changed; an inferred one only by a rule that says so") {
  RunRuleTable table;
  table.rules = {rule({}, {{"pp", "2"}})};
  CHECK(apply(table.rules, {fields(), {}, ""}, {"pp"}).fields.number("pp") == 8);
  table.rules.front().over_unverified = true;
  CHECK(apply(table.rules, {fields(), {}, ""}, {}).fields.number("pp") == 8);
  CHECK(apply(table.rules, {fields(), {}, ""}, {"pp"}).fields.number("pp") == 2);
}

TEST_CASE("what a rule assumes a field to mean does not overwrite a published text that nobody understands") {
  RunRuleTable table;
  table.rules = {rule({{"framework", {"Megatron*"}}}, {{"recompute", "none"}, {"recompute_as", "none"}})};
  RunFields published = fields();
  published.words["recompute"] = "every:2";
  const RuledRun run = apply(table.rules, {published, {}, ""}, {});
  CHECK(run.fields.word("recompute") == "every:2");
  CHECK_FALSE(run.fields.has("recompute_as"));
  CHECK(run.assumed.empty());
  CHECK(apply(table.rules, {fields(), {}, ""}, {}).fields.word("recompute_as") == "none");
  // a rule about the text itself, and one that says what a framework makes of a field in such a layout, still read it
  table.rules = {rule({{"recompute", {"every*"}}}, {{"recompute_as", "full"}}),
                 rule({{"pp", {"!1"}}}, {{"zero_stage_as", "1"}})};
  published.numbers["zero_stage"] = 3;
  const RuledRun read = apply(table.rules, {published, {}, ""}, {});
  CHECK(read.fields.word("recompute_as") == "full");
  CHECK(read.fields.word("zero_stage_as") == "1");
}

TEST_CASE("a later rule sees what an earlier one decided, and the first reason to skip stays") {
  RunRuleTable table;
  table.rules = {rule({}, {{"machine", "dgx-a100-80g"}}),
                 {{{"machine", {"dgx*"}}}, {}, "one", false, "a test"},
                 {{}, {}, "two", false, "a test"}};
  CHECK(apply(table.rules, {fields(), {}, ""}, {}).skip == "one");
}

}  // namespace plumbline
