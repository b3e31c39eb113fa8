// The most that fits, in a table and sentences.

#include "planner/session/fit/fit_tables.h"

#include "tests/sample_plan.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

using session::Beyond;
using session::FitLimit;
using session::FitLimits;
using session::LimitKind;

FitLimits sample_limits() {
  FitLimits answer;
  answer.request.family = "llama";
  answer.request.question.model = "tiny";
  answer.request.question.devices = 16;
  FitLimit sequence{LimitKind::sequence, 65'536, sample_plan(), Beyond{65'664, "", "1 GiB too much"},
                    "longer than the 8192 tokens that the model was made for"};
  FitLimit model{LimitKind::model, 1, sample_plan(), Beyond{0, "llama-3-70b", "90 GiB too much"}, ""};
  FitLimit devices{LimitKind::devices, 0, std::nullopt, Beyond{1, "", "3 GiB too much"}, ""};
  sequence.sure = session::SureLimit{32'768, sample_plan()};
  answer.limits = {sequence, model, devices};
  return answer;
}

TEST_CASE("each limit is a row, none where nothing fits") {
  const Table table = fit_limits_table(sample_limits());
  check_whole(table);
  REQUIRE(table.rows.size() == 3);
  CHECK(cell(table, 0, "limit").text == "longest sequence");
  CHECK(cell(table, 0, "value").text == "65 536");
  CHECK(cell(table, 0, "sure").text == "32 768");
  CHECK(cell(table, 1, "sure").text == "none");
  CHECK(cell(table, 1, "limit").text == "largest llama");
  CHECK(cell(table, 1, "value").text == "tiny");
  CHECK(cell(table, 2, "value").text == "none");
  CHECK(cell(table, 2, "plan").text.empty());
}

TEST_CASE("what keeps more from fitting is a sentence for each limit") {
  CHECK(beyond_words(sample_limits()) ==
        std::vector<std::string>{"sequence 65 664: 1 GiB too much",
                                 "longest sequence: longer than the 8192 tokens that the model was made for",
                                 "llama-3-70b: 90 GiB too much", "1 GPU: 3 GiB too much"});
}

TEST_CASE("what was assumed is said") {
  FitLimits answer = sample_limits();
  answer.framework.framework = Framework::megatron_lm;
  CHECK(fit_limits_assumption_words(answer).find("Megatron-LM launches") != std::string::npos);
  answer.request.strategy = PartialStrategy{};
  CHECK(fit_limits_assumption_words(answer).find("the strategy of the flags") != std::string::npos);
  CHECK(fit_limits_question_words(answer).find("tiny on 16 x H100-SXM-80GB (two-boxes)") == 0);
}

TEST_CASE("each remedy is a row with the flag that asks it and the best plan then") {
  const Plan plan = sample_plan();
  const Table table = remedy_table({{"--gpus 32", "on 32 GPUs", plan}, {"--lora-rank 16", "with adapters", plan}});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.columns[0].id == "remedy");
  CHECK(table.rows[0][0].text == "on 32 GPUs");
  CHECK(table.rows[1][1].text == "--lora-rank 16");
  CHECK(table.rows[0][2].number == Approx(plan.prediction.step_time_s.expected));
  CHECK(table.rows[0].back().text == plumbline::to_text(plan.strategy));
}

}  // namespace
}  // namespace plumbline::present
