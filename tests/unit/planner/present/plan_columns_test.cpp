// What a list of plans shows, and when.

#include "planner/present/plan_columns.h"

#include "core/plan/strategy_axes.h"
#include "tests/sample_plan.h"
#include "tests/unit/planner/present/whole_table.h"

namespace plumbline::present {
namespace {

TEST_CASE("every column of a plan has a title, a unit and an explanation") {
  const Table table = plan_table({sample_plan()});
  check_whole(table);
  Table all{{}, {{}}};
  for (const ColumnOf<Plan>& column : plan_columns()) {
    all.columns.push_back(column.column);
    all.rows.front().push_back(column.cell(sample_plan()));
  }
  check_whole(all);
  CHECK(all.columns.size() == 30);
}

TEST_CASE("an axis has the column that its row names, and its value in the cell") {
  const auto column_of = [](const StrategyAxis& axis) {
    return std::find_if(plan_columns().begin(), plan_columns().end(),
                        [&](const ColumnOf<Plan>& one) { return one.column.id == axis.key; });
  };
  for (const StrategyAxis& axis : strategy_axes()) {
    INFO(axis.key);
    const auto found = column_of(axis);
    REQUIRE((found != plan_columns().end()) == !axis.column.empty());
    if (axis.column.empty()) continue;
    CHECK(found->column.title == axis.column);
    if (axis.kind != AxisKind::layers)
      CHECK(found->cell(sample_plan()).text.starts_with(axis.text(sample_plan().strategy)));
    Plan usual = sample_plan();
    usual.strategy = {};
    CHECK(is_shown(*found, std::vector<Plan>{usual, usual}) == (axis.in_tables == InTables::always));
  }
}

TEST_CASE("the cells of a plan say its choices and its figures, as text and as numbers") {
  const Table table = plan_table({sample_plan()});
  const auto text = [&](const char* id) { return cell(table, 0, id).text; };
  CHECK(text("rank") == "1");
  CHECK(text("tensor_parallel") == "2");
  CHECK(text("sequence_parallel") == "on");
  CHECK(text("schedule") == "interleaved");
  CHECK(text("micro_batch") == "4 x 8");
  CHECK(text("zero_stage") == "2/2");  // shared by two of the four gradient ranks
  CHECK(text("recompute") == "every:2");
  CHECK(text("step_time") == "5.000 (4.50-5.50)");
  CHECK(text("throughput") == "1234");
  CHECK(text("mfu") == "41.0");
  CHECK(text("margin") == "79.0");
  CHECK(cell(table, 0, "tensor_parallel").number == 2);
  CHECK(cell(table, 0, "margin").number == 79);
  CHECK(*cell(table, 0, "mfu").number == Approx(41));
}

TEST_CASE("a column that says nothing of these plans is not shown") {
  Plan plain = sample_plan();
  plain.strategy = Strategy{};
  const std::vector<std::string> shown = titles(plan_table({plain, plain}));
  for (const char* title : {"GPUs", "precision", "sp", "cp", "ep", "schedule", "vs", "split", "simulated"})
    CHECK(std::find(shown.begin(), shown.end(), title) == shown.end());
  for (const char* title : {"#", "tp", "pp", "dp", "zero", "recompute", "step s (interval)", "GiB left"})
    CHECK(std::find(shown.begin(), shown.end(), title) != shown.end());
}

TEST_CASE("plans that differ in GPUs or precision show both") {
  Plan other = sample_plan();
  other.machine.devices = 8;
  other.training.precision = PrecisionRecipe::bf16;
  const Table table = plan_table({sample_plan(), other});
  CHECK(cell(table, 0, "devices").text == "16");
  CHECK(cell(table, 1, "devices").text == "8");
  CHECK(cell(table, 1, "precision").text == "bf16");
}

TEST_CASE("plans that differ in optimizer, rank of adapters or FlashAttention show it") {
  Plan one = sample_plan();
  one.training.optimizer = Optimizer::adamw;
  one.training.adaptation.lora_rank = 8;
  one.strategy.flash_attention = FlashAttention::on;
  Plan other = one;
  other.training.optimizer = Optimizer::muon;
  other.training.adaptation.lora_rank = 16;
  other.strategy.flash_attention = FlashAttention::off;
  const Table table = plan_table({one, other});
  CHECK(cell(table, 0, "optimizer").text == "adamw");
  CHECK(cell(table, 1, "optimizer").text == "muon");
  CHECK(cell(table, 1, "lora_rank").number == 16);
  CHECK(cell(table, 1, "flash_attention").text == "off");
  for (const Column& column : plan_table({other, other}).columns)
    CHECK((column.id != "optimizer" && column.id != "lora_rank" && column.id != "flash_attention"));
}

TEST_CASE("a plan near the edge is marked, one that was simulated shows its step") {
  Plan plan = sample_plan();
  plan.verdict.near_edge = true;
  plan.prediction.simulated_step = Seconds(12.345);
  const Table table = plan_table({plan});
  CHECK(cell(table, 0, "margin").text == "79.0!");
  CHECK(cell(table, 0, "step_time").text.find("12.35") != std::string::npos);
  CHECK(cell(table, 0, "step_time").number == 12.345);
}

TEST_CASE("the chance to fit is a column, and so are plans that a row stands for") {
  Plan plan = sample_plan();
  plan.verdict.chance_to_fit = 0.714;
  const Table alone = plan_table({plan, plan}, {0, 0});
  CHECK(cell(alone, 0, "chance_to_fit").text == "71");
  CHECK(*cell(alone, 0, "chance_to_fit").number == Approx(71.4));
  CHECK(alone.columns.back().id == "chance_to_fit");
  const Table folded = plan_table({plan, plan}, {2, 0});
  check_whole(folded);
  CHECK(cell(folded, 0, "alike").text == "+2");
  CHECK(cell(folded, 1, "alike").text.empty());
}

TEST_CASE("a point of the front shows the step that ranks it") {
  RankedStrategy point;
  point.step_time = Picoseconds(1'500'000'000'000);
  point.peak_memory = 2_GiB;
  point.devices = 8;
  const Table table = front_table({point});
  check_whole(table);
  CHECK(cell(table, 0, "step_time").text == "1.500");
  CHECK(cell(table, 0, "peak_memory").text == "2.0");
  CHECK(cell(table, 0, "devices").number == 8);
}

}  // namespace
}  // namespace plumbline::present
