// Where the time and memory of a plan go, as tables.

#include "planner/present/plan_tables.h"

#include "tests/sample_plan.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

TEST_CASE("the step is divided into its causes, which sum to it") {
  const Plan plan = sample_plan();
  const Table table = time_table(plan.prediction.time);
  check_whole(table);
  REQUIRE(table.rows.size() == time_cause_count + 1);
  double sum = 0;
  for (std::size_t i = 0; i < time_cause_count; ++i) sum += cell(table, i, "seconds").number.value_or(0);
  CHECK(sum == Approx(*cell(table, time_cause_count, "seconds").number));
  CHECK(cell(table, time_cause_count, "cause").text == "= step");
  CHECK(cell(table, time_cause_count, "share").text == "100.0 %");
  CHECK(cell(table, 7, "cause").text == "pipeline bubble");
}

TEST_CASE("causes that take no time are left out") {
  TimeBreakdown time;
  time[TimeCause::compute] = Picoseconds(1'000'000'000'000);
  CHECK(time_table(time).rows.size() == 2);
}

TEST_CASE("memory is shown by class and stage, with totals and a star at the heaviest stage") {
  const Prediction p = sample_plan().prediction;
  const Table table = memory_table(p, {0, 1});
  check_whole(table);
  CHECK(titles(table) == std::vector<std::string>{"GiB on a rank of stage", "0*", "1"});
  CHECK(table.rows.size() == memory_class_count + 3);
  CHECK(*cell(table, table.rows.size() - 1, "stage_1").number ==
        Approx(static_cast<double>(p.stage_memory[1].device_total().value()) / (1 << 30)));
}

TEST_CASE("of many stages the first, the last and the heaviest are shown") {
  Prediction p = sample_plan().prediction;
  p.stage_memory.resize(16, p.stage_memory.front());
  p.heaviest_stage = 5;
  CHECK(shown_stages(p) == std::vector<std::size_t>{0, 5, 15});
  p.stage_memory.resize(6);
  CHECK(shown_stages(p).size() == 6);
}

TEST_CASE("layers of a stage that replay the same stand in one row") {
  Plan plan = sample_plan();
  const Table table = replay_table(plan.layout);
  check_whole(table);
  REQUIRE(table.rows.size() == 3);  // two kinds on stage 0, one on stage 1
  CHECK(cell(table, 0, "stage").text == "0");
  CHECK(cell(table, 1, "stage").text.empty());
  CHECK(cell(table, 0, "replay").text == "attention.core mlp.up");
  CHECK(cell(table, 0, "replay_time").text == "0.003");
  CHECK(cell(table, 2, "replay").text == "nothing");
  CHECK(cell(table, 2, "of_them").number == 2);
}

TEST_CASE("changes stand below the plan as it is") {
  const Plan from = sample_plan();
  Change change{{"tp 2 -> 4"}, from.strategy, from};
  change.plan.prediction.step_time_s.expected = from.prediction.step_time_s.expected * 1.1;
  change.plan.verdict.near_edge = true;
  const Table table = change_table(from, {change});
  check_whole(table);
  CHECK(cell(table, 0, "change").text == "(as it is)");
  CHECK(cell(table, 1, "against").text == "+10.0 %");
  CHECK(cell(table, 1, "fits").text == "yes, near the edge");
}

TEST_CASE("effects too small to matter are no text, yet a number") {
  const Table table = assumed_table({{{"overhead", 0.01, "a guess"}, 0.5, 0.02, 0.0001}});
  check_whole(table);
  CHECK(cell(table, 0, "step_time").text == "+2.0 %");
  CHECK(cell(table, 0, "peak_memory").text.empty());
  CHECK(*cell(table, 0, "peak_memory").number == Approx(0.01));
}

TEST_CASE("two plans side by side show the choices that differ") {
  const Plan one = sample_plan();
  Plan other = one;
  other.strategy.tensor_parallel = 4;
  other.machine.devices = 32;
  const Table table = difference_table(one, other);
  check_whole(Table{table.columns, {}});
  CHECK(cell(table, 0, "what").text == "GPUs");
  CHECK(cell(table, 1, "what").text == "tensor parallel");
  CHECK(cell(table, 1, "other").text == "4");
  CHECK(cell(table, 2, "what").text == "step s");
  CHECK(cell(table, 2, "difference").text == "+0.0 %");
}

TEST_CASE("every rank has its place and its coordinates") {
  const Table table = rank_table(sample_plan());
  check_whole(table);
  CHECK(table.rows.size() == 16);
  CHECK(cell(table, 9, "host").text == "1");
  CHECK(cell(table, 9, "tensor").text == "1");
}

}  // namespace
}  // namespace plumbline::present
