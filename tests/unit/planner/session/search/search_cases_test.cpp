// One question with several values of its parts.

#include "planner/session/search/search_cases.h"

#include "core/base/errors.h"
#include "planner/session/search/case_tables.h"
#include "planner/session/search/search_cases_json.h"
#include "tests/catch.h"

namespace plumbline::session::search_cases_test {
namespace {

QuestionFlags flags() {
  QuestionFlags flags;
  flags.model = "gpt2";
  flags.machine = "dgx-h100";
  flags.gpus = "8";
  flags.global_batch = "64";
  flags.recipes = Recipes::several;
  return flags;
}

TEST_CASE("one value of each part is one search, as it was asked") {
  SearchRequest options;
  options.top = 7;
  const std::vector<SearchCase> cases = search_cases(flags(), options);
  REQUIRE(cases.size() == 1);
  CHECK(cases.front().values.empty());
  CHECK(cases.front().request.top == 7);
  CHECK(cases.front().request.question.devices == 8);
}

TEST_CASE("several values are a search for each combination, in the order in which they were given") {
  QuestionFlags several = flags();
  several.gpus = "16,8";
  several.sequence_length = "512,1K";
  const std::vector<SearchCase> cases = search_cases(several, {});
  REQUIRE(cases.size() == 4);
  CHECK(cases[0].values == std::vector<CaseValue>{{"gpus", "16"}, {"seq-len", "512"}});
  CHECK(cases[1].values == std::vector<CaseValue>{{"gpus", "16"}, {"seq-len", "1K"}});
  CHECK(cases[3].values == std::vector<CaseValue>{{"gpus", "8"}, {"seq-len", "1K"}});
  CHECK(cases[1].request.question.devices == 16);
  CHECK(cases[1].request.question.training.sequence_length == 1024);
  CHECK(label_of(cases[1].values) == "gpus 16, seq-len 1K");
}

TEST_CASE("the flags that make cases are options of the question") {
  std::vector<std::string> found;
  for (const Option<QuestionFlags>& option : question_options(Recipes::several, DeviceCounts::one))
    if (makes_cases(option.words.flag)) found.push_back(option.words.flag);
  CHECK(found == std::vector<std::string>{"--model", "--machine", "--gpus", "--seq-len", "--global-batch", "--stack"});
}

TEST_CASE("each row is what a search for its values alone finds") {
  QuestionFlags several = flags();
  several.global_batch = "64,128";
  const CasesAnswer answer = search(search_cases(several, {}));
  REQUIRE(answer.rows.size() == 2);
  CHECK(answer.complete);
  for (const CaseAnswer& row : answer.rows) {
    QuestionFlags one = flags();
    one.global_batch = row.values.front().value;
    SearchRequest request;
    request.question = one.question();
    const SearchAnswer alone = search(request);
    REQUIRE(row.plan() != nullptr);
    CHECK((row.plan()->strategy == alone.plans.front().strategy));
    CHECK(row.plan()->prediction.step_time_s.expected == alone.plans.front().prediction.step_time_s.expected);
  }
  const present::Table table = present::case_table(answer);
  CHECK(table.columns.front().title == "global-batch");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[1].front().text == "128");
  const Json json = to_json(answer);
  CHECK(*json.find("format")->if_string() == search_cases_format);
  REQUIRE(json.find("rows")->if_array()->size() == 2);
  CHECK(*json.find("rows")->if_array()->at(0).find("values")->find("global-batch")->if_string() == "64");
}

TEST_CASE("all stacks are every current release that trains the question, the fastest first, each for its framework") {
  QuestionFlags all = flags();
  all.model = "llama-3.2-1b";
  all.sequence_length = "4096";
  all.stack = "all";
  const std::vector<SearchCase> cases = search_cases(all, {});
  QuestionFlags none = all;
  none.stack.reset();
  const std::vector<StackCandidate> candidates = Question(none.question()).usual_stack().candidates;
  REQUIRE(cases.size() == candidates.size());
  CHECK(cases.size() >= 4);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(cases[i].request.question.stack == candidates[i].stack);
    CHECK(cases[i].request.framework == candidates[i].framework);
  }
  const CasesAnswer answer = search(cases);
  double before = 0;
  for (const CaseAnswer& row : answer.rows) {
    REQUIRE(row.plan() != nullptr);
    const Prediction& p = row.plan()->prediction;
    const double step = p.simulated_step ? p.simulated_step->value() : p.step_time_s.expected;
    CHECK(step >= before);
    before = step;
    CHECK(row.values.front().value == row.plan()->provenance.stack_calibration);
    CHECK(row.values.back().value == to_text(row.found->framework.framework));
  }
}

TEST_CASE("what one value refuses is the reason of its row alone") {
  QuestionFlags several = flags();
  several.model = "gpt2,llama-3-70b";  // 70 B parameters on eight GPUs do not fit
  const CasesAnswer answer = search(search_cases(several, {}));
  REQUIRE(answer.rows.size() == 2);
  CHECK(answer.rows[0].plan() != nullptr);
  CHECK(answer.rows[1].plan() == nullptr);
  const std::vector<std::string> sentences = present::without_plan(answer);
  REQUIRE(sentences.size() == 1);
  CHECK(sentences.front().starts_with("model llama-3-70b: "));
  CHECK(sentences.front().size() > std::string("model llama-3-70b: ").size());
  CHECK(present::case_table(answer).rows.size() == 1);
}

TEST_CASE("a search that is stopped says so") {
  QuestionFlags several = flags();
  several.gpus = "8,16";
  Task task;
  task.stop = StopRequest([] { return true; });
  const CasesAnswer answer = search(search_cases(several, {}), task);
  CHECK_FALSE(answer.complete);
  CHECK(answer.rows.empty());
}

TEST_CASE("empty, repeated and far too many values are refused, naming the flag") {
  const auto refused = [](const QuestionFlags& flags) -> std::string {
    try {
      (void)search_cases(flags, {});
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  QuestionFlags wrong = flags();
  wrong.gpus = "8,,16";
  CHECK(refused(wrong).starts_with("--gpus"));
  wrong.gpus = "8,8";
  CHECK(refused(wrong).starts_with("--gpus: '8' is given twice"));
  QuestionFlags stacks = flags();
  stacks.stack = "torchtitan,all";
  CHECK(refused(stacks).starts_with("--stack: has all beside others"));
  wrong.gpus = "8,eight";
  CHECK(refused(wrong).starts_with("--gpus"));
  wrong = flags();
  std::string many = "1";
  for (int i = 2; i <= 1001; ++i) many += "," + std::to_string(i);
  wrong.global_batch = many;
  CHECK(refused(wrong).find("at most 1000") != std::string::npos);
}

}  // namespace
}  // namespace plumbline::session::search_cases_test
