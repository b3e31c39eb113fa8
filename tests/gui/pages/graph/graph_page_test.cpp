// The graph page as a user has it.
#include "gui/pages/graph/graph_page.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QTableView>

#include "gui/pages/graph/graph_view.h"
#include "tests/catch.h"
#include "tests/gui/pages/plans.h"
#include "tests/gui/pages/waiting.h"

namespace plumbline::gui {
namespace {

TEST_CASE("a click on an operator marks its row, keys go on to the next one") {
  GraphPage page;
  REQUIRE(show_and_wait(page, priced(pipelined())));
  auto* graph = page.findChild<GraphView*>();
  auto* view = page.findChild<QTableView*>();
  const QAbstractItemModelTester tester(view->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  REQUIRE(graph->shown().nodes.size() > 5);
  QTest::mouseClick(graph, Qt::LeftButton, {}, graph->area_of(3).center().toPoint());
  CHECK(graph->node() == 3);
  CHECK(view->currentIndex().row() == 3);
  QTest::keyClick(graph, Qt::Key_Down);
  CHECK(view->currentIndex().row() == 4);
  QTest::keyClick(view, Qt::Key_Down);
  CHECK(graph->node() == 5);
}

TEST_CASE("another block is chosen by its name") {
  GraphPage page;
  REQUIRE(show_and_wait(page, priced(pipelined())));
  auto* blocks = page.findChild<QComboBox*>();
  REQUIRE(blocks->count() >= 3);
  CHECK(blocks->currentText().contains("12 times"));
  QTest::keyClick(blocks, Qt::Key_Down);
  CHECK(blocks->currentIndex() == 1);
  const std::size_t rows = page.tables().front().table.rows.size();
  CHECK(rows == page.findChild<GraphView*>()->shown().nodes.size());
  page.show_plan(nullptr);
  CHECK(page.tables().empty());
}

}  // namespace
}  // namespace plumbline::gui
