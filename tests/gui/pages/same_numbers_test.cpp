// Page by page: the numbers that a page shows are those that the command prints for the plan that the window exports.
#include <QTemporaryDir>

#include "core/io/output_file.h"
#include "gui/export/plan_export.h"
#include "gui/pages/compare/compare_page.h"
#include "gui/pages/graph/block_picture.h"
#include "gui/pages/graph/graph_page.h"
#include "gui/pages/memory/memory_page.h"
#include "gui/pages/scaling/scaling_page.h"
#include "gui/pages/step/step_page.h"
#include "gui/pages/timeline/timeline_page.h"
#include "planner/present/numbers.h"
#include "tests/catch.h"
#include "tests/gui/pages/command.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

using Row = std::vector<present::Cell>;

/// A plan, and the file that the window exports it to.
struct Exported {
  QTemporaryDir folder;
  SharedPlan plan;
  QString file;

  explicit Exported(const AskedPlan& asked) : plan(priced(asked)), file(folder.filePath("plan.json")) {
    write_output_file(file.toStdString(), plan_text(*plan));
  }
};

const present::Table& table_of(const std::vector<NamedTable>& tables, std::string_view name) {
  for (const NamedTable& table : tables)
    if (table.name == name) return table.table;
  throw std::out_of_range(std::string(name));
}

const Row* row_of(const present::Table& table, const std::string& name) {
  for (const Row& row : table.rows)
    if (row.front().text == name) return &row;
  return nullptr;
}

/// The cell of a column, by its id.
const present::Cell& cell_of(const present::Table& table, const Row& row, std::string_view id) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].id == id) return row[c];
  throw std::out_of_range(std::string(id));
}

double number(const present::Table& table, const Row& row, std::string_view id) {
  return *cell_of(table, row, id).number;
}

/// But for the last digits, which a division by a GiB takes.
Approx exactly(double value) { return Approx(value).epsilon(1e-10).margin(1e-15); }

/// Every class of memory of `json` in a column of the table, and no other.
void require_classes(const present::Table& table, std::string_view column, const Json& json) {
  for (std::size_t c = 0; c < memory_class_count; ++c) {
    const auto memory_class = static_cast<MemoryClass>(c);
    const double bytes = number_at(json, to_text(memory_class));
    const Row* const row = row_of(table, present::words_of(to_text(memory_class)));
    INFO(to_text(memory_class));
    if (row == nullptr)
      CHECK(bytes == 0);
    else
      CHECK(number(table, *row, column) * present::bytes_per_gib == exactly(bytes));
  }
}

}  // namespace

TEST_CASE("the page Memory shows the bytes of plan explain --json, class by class on every stage") {
  const Exported exported(pipelined());
  MemoryPage page;
  REQUIRE(show_and_wait(page, exported.plan));
  const std::vector<NamedTable> tables = page.tables();
  const present::Table& table = table_of(tables, "memory");
  const Json answer = command_answer({"explain", "--plan", exported.file, "--json"});
  const Json::Array& stages = list_at(member(member(answer, "plan"), "prediction"), "memory");
  REQUIRE(table.columns.size() == stages.size() + 1);
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    require_classes(table, "stage_" + std::to_string(stage), stages[stage]);
}

TEST_CASE("the page Timeline shows the peaks, idle and busy times of plan simulate --json") {
  const Exported exported(pipelined());
  TimelinePage page;
  REQUIRE(show_and_wait(page, exported.plan));
  const std::vector<NamedTable> tables = page.tables();
  const Json answer = command_answer({"simulate", "--plan", exported.file, "--json"});
  const present::Table& table = table_of(tables, "timeline-stages");
  const Json::Array& stages = list_at(answer, "stages");
  REQUIRE(table.rows.size() == stages.size());
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const Row& row = table.rows[stage];
    const Json& peak = member(stages[stage], "peak");
    CHECK(number(table, row, "peak") * present::bytes_per_gib == exactly(number_at(peak, "bytes")));
    CHECK(number(table, row, "peak_at") == exactly(1e3 * number_at(peak, "at_s")));
    CHECK(cell_of(table, row, "peak_action").text == *member(peak, "action").if_string());
    CHECK(number(table, row, "idle") == exactly(1e3 * number_at(stages[stage], "idle_s")));
    CHECK(number(table, row, "compute") == exactly(1e3 * number_at(member(stages[stage], "busy_s"), "compute")));
  }
  require_classes(table_of(tables, "timeline-classes"), "memory", member(member(answer, "peak"), "memory"));
}

TEST_CASE("the page Step shows the causes, changes and assumed numbers of plan explain --json") {
  const Exported exported(pipelined());
  StepPage page;
  REQUIRE(show_and_wait(page, exported.plan));
  const std::vector<NamedTable> tables = page.tables();
  const Json answer = command_answer({"explain", "--plan", exported.file, "--json"});
  const Json& time = member(member(member(answer, "plan"), "prediction"), "time");
  const present::Table& causes = table_of(tables, "step");
  for (std::size_t i = 0; i < time_cause_count; ++i) {
    const std::string_view cause = to_text(static_cast<TimeCause>(i));
    const Row* const row = row_of(causes, present::words_of(cause));
    INFO(cause);
    CHECK((row == nullptr ? 0 : number(causes, *row, "seconds")) == exactly(number_at(time, cause)));
  }
  const present::Table& changes = table_of(tables, "step-changes");
  const Json::Array& changed = list_at(answer, "changes");
  REQUIRE(changes.rows.size() == changed.size() + 1);  // the first is the plan as it is
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const Row& row = changes.rows[i + 1];
    CHECK(row.front().text == *member(changed[i], "change").if_string());
    CHECK(number(changes, row, "step_time") == exactly(number_at(member(changed[i], "step_time_s"), "expected")));
    CHECK(number(changes, row, "peak_memory") * present::bytes_per_gib ==
          exactly(number_at(changed[i], "peak_memory_bytes")));
  }
  const present::Table& assumed = table_of(tables, "step-assumed");
  const Json::Array& numbers = list_at(answer, "assumed");
  REQUIRE(assumed.rows.size() == numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CHECK(assumed.rows[i].front().text == *member(numbers[i], "name").if_string());
    CHECK(cell_of(assumed, assumed.rows[i], "source").text == *member(numbers[i], "source").if_string());
    CHECK(number(assumed, assumed.rows[i], "step_time") == exactly(100 * number_at(numbers[i], "step_time_change")));
    CHECK(number(assumed, assumed.rows[i], "peak_memory") ==
          exactly(100 * number_at(numbers[i], "peak_memory_change")));
  }
}

TEST_CASE("the page Step shows measured runs as plan validate --json has them") {
  StepPage page;
  REQUIRE(show_and_wait(page, priced(pipelined())));
  const std::vector<NamedTable> tables = page.tables();
  const present::Table& near = table_of(tables, "step-measured");
  REQUIRE_FALSE(near.rows.empty());
  const Json answer = command_answer({"validate", "--json"});
  for (const Row& row : near.rows) {
    const bool is_time = cell_of(near, row, "kind").text == "step s";
    bool is_there = false;
    for (const Json& run : list_at(answer, "rows")) {
      if (*member(run, "id").if_string() != row.front().text) continue;
      if ((*member(run, "kind").if_string() == "time") != is_time) continue;
      const double unit = is_time ? 1 : present::bytes_per_gib;
      CHECK(number(near, row, "measured") * unit == exactly(number_at(run, "measured")));
      CHECK(number(near, row, "predicted") * unit == exactly(number_at(member(run, "predicted"), "expected")));
      is_there = true;
    }
    INFO(row.front().text);
    CHECK(is_there);
  }
}

TEST_CASE("the page Scaling shows the figures of plan size --json") {
  const AskedPlan asked = pipelined();
  const Exported exported(asked);
  ScalingPage page;
  REQUIRE(show_and_wait(page, exported.plan));
  const std::vector<NamedTable> tables = page.tables();
  const std::int64_t parameters = exported.plan->answer.plan.model.parameters;
  QStringList devices;
  for (const Row& row : table_of(tables, "scaling-strong").rows) devices << QString::fromStdString(row.front().text);
  const Json answer = command_answer(
      {"size", "--model", QString::fromStdString(asked.model), "--machine", "dgx-h100", "--gpus", devices.join(','),
       "--global-batch", QString::number(asked.global_batch), "--seq-len", QString::number(asked.sequence_length),
       "--tokens", QString::number(20 * parameters), "--scaling", "both", "--json"});
  std::size_t seen = 0;
  for (const Json& row : list_at(answer, "rows")) {
    const present::Table& table = table_of(tables, "scaling-" + *member(row, "scaling").if_string());
    const Row* const shown = row_of(table, std::to_string(static_cast<std::int64_t>(number_at(row, "devices"))));
    REQUIRE(shown != nullptr);
    const Json& run = member(row, "run");
    CHECK(number(table, *shown, "step_time") == exactly(number_at(member(run, "step_time_s"), "expected")));
    CHECK(number(table, *shown, "throughput") == exactly(number_at(run, "tokens_per_s")));
    CHECK(number(table, *shown, "efficiency") == exactly(100 * number_at(run, "efficiency")));
    CHECK(number(table, *shown, "days") == exactly(number_at(member(run, "days"), "expected")));
    CHECK(number(table, *shown, "dollars") == exactly(number_at(run, "dollars")));
    ++seen;
  }
  CHECK(seen == 2 * static_cast<std::size_t>(devices.size()));
}

TEST_CASE("the page Graph shows blocks whose parameters and FLOPs are those of plan models and explain --json") {
  const Exported exported(pipelined());
  GraphPage page;
  REQUIRE(show_and_wait(page, exported.plan));
  const Json models = command_answer({"models", "gpt2", "--json"});
  const std::vector<NamedTable> tables = page.tables();
  const present::Table& layer = table_of(tables, "graph");
  double held = 0;
  for (const Row& row : layer.rows) held += number(layer, row, "parameters") * present::bytes_per_mib;
  constexpr double bytes_of_bf16 = 2;
  double each = 0;
  for (const Json& block : list_at(models, "blocks"))
    if (*member(block, "kind").if_string() == "layer") each = number_at(block, "parameters_each");
  CHECK(held / bytes_of_bf16 == exactly(each));
  double flops = 0;  // of one sequence
  for (const BlockPicture& block : block_pictures(exported.plan->answer)) {
    const present::Table table = node_table(block);
    for (const Row& row : table.rows)
      flops +=
          static_cast<double>(block.repeats) * 1e9 * (number(table, row, "forward") + number(table, row, "backward"));
  }
  const Json answer = command_answer({"explain", "--plan", exported.file, "--json"});
  const Json& plan = member(answer, "plan");
  CHECK(flops * number_at(member(plan, "training"), "global_batch") ==
        exactly(number_at(member(plan, "prediction"), "hardware_flops_per_step")));
}

TEST_CASE("the page Compare shows the figures of both plans of plan explain --against --json") {
  const Exported one(pipelined());
  AskedPlan asked = pipelined();
  asked.strategy.pipeline_stages = 2;
  const Exported other(asked);
  ComparePage page;
  page.set_others({one.plan->answer.plan, other.plan->answer.plan});
  REQUIRE(show_and_wait(page, one.plan));
  const Json answer = command_answer({"explain", "--plan", one.file, "--against", other.file, "--json"});
  const std::vector<NamedTable> tables = page.tables();
  const present::Table& table = table_of(tables, "compare");
  for (const char* const key : {"plan", "against"}) {
    const Json& prediction = member(member(answer, key), "prediction");
    const char* const column = std::string_view(key) == "plan" ? "plan0" : "plan1";
    const auto shown = [&](const char* row) {
      INFO(row);
      REQUIRE(row_of(table, row) != nullptr);
      return number(table, *row_of(table, row), column);
    };
    CHECK(shown("step s") == exactly(number_at(member(prediction, "step_time_s"), "expected")));
    CHECK(shown("peak GiB") * present::bytes_per_gib == exactly(number_at(prediction, "peak_memory_bytes")));
    CHECK(shown("MFU %") == exactly(100 * number_at(prediction, "mfu")));
    CHECK(shown("tokens/s/GPU") == exactly(number_at(prediction, "tokens_per_s_per_gpu")));
  }
}

}  // namespace plumbline::gui
