// Where the time of a step goes: the plan's own numbers, and those of `plan explain`.
#include "gui/pages/step/step_page.h"

#include <QAbstractItemModelTester>
#include <QTableView>
#include <algorithm>

#include "gui/pages/step/waterfall.h"
#include "planner/present/plan_tables.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

TEST_CASE("a waterfall begins where the cause before it ends, and ends at the step") {
  const SharedPlan plan = priced(pipelined());
  const TimeBreakdown& time = plan->answer.plan.prediction.time;
  const std::vector<WaterfallPart> parts = waterfall_parts(time);
  Picoseconds at(0);
  for (const WaterfallPart& part : parts) {
    CHECK(part.begin == at);
    CHECK(part.end - part.begin == time[part.cause]);
    at = part.end;
  }
  CHECK(at == time.total());
  CHECK(waterfall_parts({}).empty());
}

TEST_CASE("changes and assumed numbers are those of plan explain") {
  StepPage page;
  const SharedPlan plan = priced(pipelined());
  REQUIRE(show_and_wait(page, plan));
  const session::Explanation expected = session::explain(plan->answer);
  const std::vector<NamedTable> tables = page.tables();
  REQUIRE(tables.size() == 4);
  const present::Table changes = present::change_table(expected.plan, expected.changes);
  REQUIRE(tables[1].table.rows.size() == changes.rows.size());
  for (std::size_t row = 0; row < changes.rows.size(); ++row)
    for (std::size_t column = 0; column < changes.columns.size(); ++column)
      CHECK(tables[1].table.rows[row][column].text == changes.rows[row][column].text);
  CHECK(tables[2].table.rows.size() == expected.assumed.size());
  CHECK_FALSE(tables[3].table.rows.empty());
  CHECK(page.picture()->accessibleDescription().contains("compute"));
}

TEST_CASE("changes are sorted by a click on a title, and their model keeps the rules of Qt's models") {
  StepPage page;
  REQUIRE(show_and_wait(page, priced(pipelined())));
  for (QTableView* view : page.findChildren<QTableView*>()) {
    const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    CHECK_FALSE(view->accessibleName().isEmpty());
    view->sortByColumn(1, Qt::DescendingOrder);
  }
  const auto views = page.findChildren<QTableView*>();
  const auto named = std::find_if(views.begin(), views.end(), [](const QTableView* view) {
    return view->accessibleName() == "One change along each axis";
  });
  REQUIRE(named != views.end());
  const QAbstractItemModel* changes = (*named)->model();
  const auto step = [&](int line) { return changes->data(changes->index(line, 1)).toString().toDouble(); };
  for (int line = 1; line < changes->rowCount(); ++line) CHECK(step(line) <= step(line - 1));
}

TEST_CASE("another plan replaces an explanation that is under way") {
  StepPage page;
  page.show_plan(priced(pipelined()));
  AskedPlan other = pipelined();
  other.strategy.pipeline_stages = 2;
  const SharedPlan plan = priced(other);
  REQUIRE(show_and_wait(page, plan));
  const session::Explanation expected = session::explain(plan->answer);
  CHECK(page.tables()[1].table.rows.size() == present::change_table(expected.plan, expected.changes).rows.size());
  page.show_plan(nullptr);
  CHECK(page.tables().empty());
}

}  // namespace
}  // namespace plumbline::gui
