#include "gui/tables/table_view.h"

#include <QGuiApplication>
#include <QHeaderView>
#include <QMenu>
#include <QTest>
#include <QTimer>
#include <utility>
#include <vector>

#include "gui/tables/table_model.h"
#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

struct Shown {
  TableModel model;
  TableView view{model, "plans"};

  Shown() {
    present::Table table;
    table.columns = {{"name", "name", present::Unit::text, "", present::Align::left},
                     {"tp", "tp", present::Unit::number, ""}};
    table.rows = {{present::words("a"), present::whole(8)}, {present::words("b"), present::whole(2)}};
    model.set_table(std::move(table));
    view.resize(300, 200);
    view.show();
  }
};

}  // namespace

TEST_CASE("a key sorts by the current column, and once more the other way") {
  Shown shown;
  shown.view.setCurrentIndex(shown.model.index(0, 1));
  QTest::keyClick(&shown.view, Qt::Key_S);
  CHECK(shown.model.row_of(0) == 1);
  QTest::keyClick(&shown.view, Qt::Key_S);
  CHECK(shown.model.row_of(0) == 0);
  CHECK(shown.view.accessibleName() == "plans");
}

TEST_CASE("columns are chosen from the keyboard too") {
  Shown shown;
  QTimer::singleShot(0, [] {
    auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    REQUIRE(menu != nullptr);
    menu->actions()[1]->trigger();
    menu->close();
  });
  QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5), shown.view.mapToGlobal(QPoint(5, 5)));
  QCoreApplication::sendEvent(&shown.view, &event);
  CHECK(shown.view.isColumnHidden(1));
  CHECK_FALSE(shown.view.isColumnHidden(0));
}

TEST_CASE("what the program chooses in a table does not depend on the keys that somebody holds") {
  present::Table table;
  table.columns = {{"place", "#", present::Unit::number, "place"}};
  for (int row = 0; row < 4; ++row) table.rows.push_back({present::whole(row)});
  TableModel model;
  TableView view(model, "places");
  model.set_table(table);
  view.show();
  const std::vector<std::pair<Qt::Key, Qt::KeyboardModifier>> all{{Qt::Key_Shift, Qt::ShiftModifier},
                                                                  {Qt::Key_Control, Qt::ControlModifier}};
  for (const auto& [key, held] : all) {
    view.choose_row(0);
    QTest::keyPress(&view, key, held);
    REQUIRE(QGuiApplication::keyboardModifiers() == Qt::KeyboardModifiers(held));
    view.choose_row(2);
    CHECK(view.chosen_rows() == std::vector<int>{2});
    view.choose_row(2);
    CHECK(view.chosen_rows() == std::vector<int>{2});
    QTest::keyRelease(&view, key, Qt::NoModifier);
  }
}

}  // namespace plumbline::gui
