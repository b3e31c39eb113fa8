// Scaling: the figures of `plan size`.
#include "gui/pages/scaling/scaling_page.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QTableView>

#include "planner/session/size/size.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

void require_equal(const present::Table& one, const present::Table& other) {
  REQUIRE(one.rows.size() == other.rows.size());
  for (std::size_t row = 0; row < one.rows.size(); ++row)
    for (std::size_t column = 0; column < one.columns.size(); ++column)
      CHECK(one.rows[row][column].text == other.rows[row][column].text);
}

TEST_CASE("figures over the number of GPUs are those of plan size") {
  ScalingPage page;
  const SharedPlan plan = priced(pipelined());
  REQUIRE(show_and_wait(page, plan));
  const session::SizeAnswer expected =
      session::size(session::prepare_size(session::scaling_question(plan->answer).request));
  const std::vector<NamedTable> tables = page.tables();
  REQUIRE(tables.size() == 2);
  require_equal(tables[0].table, present::size_table(expected, session::Scaling::strong));
  require_equal(tables[1].table, present::size_table(expected, session::Scaling::weak));
  for (const ScalingChart* chart : page.findChildren<ScalingChart*>()) {
    CHECK(chart->accessibleDescription().contains("strong, 8 GPUs"));
    CHECK_FALSE(chart->accessibleName().isEmpty());
  }
  const std::vector<ScalingLine> lines = shown_scaling(*plan).lines_of(ScalingFigure::efficiency);
  REQUIRE(lines.size() == 2);
  CHECK(lines.front().points.front().expected == Approx(100));
  for (QTableView* view : page.findChildren<QTableView*>()) {
    const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    view->sortByColumn(0, Qt::DescendingOrder);
  }
}

TEST_CASE("a search over numbers of GPUs is stopped by a click, and shows nothing then") {
  ScalingPage page;
  page.resize(1000, 700);
  page.show();
  page.show_plan(priced(pipelined()));
  CHECK_FALSE(page.is_complete());
  QTest::mouseClick(page.findChild<QPushButton*>(), Qt::LeftButton);
  CHECK(page.is_complete());
  QTest::qWait(50);
  CHECK(page.tables().empty());
}

}  // namespace
}  // namespace plumbline::gui
