#include "gui/window/keys_dialog.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QLineEdit>
#include <QMenuBar>
#include <QTableView>
#include <QTest>

#include "gui/window/main_window.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

bool lists(const present::Table& table, const QString& keys) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<present::Cell>& row) {
    return QString::fromStdString(row[1].text).split("; ").contains(keys);
  });
}

}  // namespace

TEST_CASE("every key of the menus is listed, and F1 opens the list") {
  MainWindow window;
  window.show();
  const present::Table table = key_table(*window.menuBar());
  int keys = 0;
  QAction* help = nullptr;
  for (QAction* const action : window.findChildren<QAction*>()) {
    for (const QKeySequence& key : action->shortcuts()) {
      INFO(key.toString().toStdString());
      CHECK(lists(table, key.toString(QKeySequence::NativeText)));
      ++keys;
    }
    if (action->shortcut() == QKeySequence(Qt::Key_F1)) help = action;
  }
  CHECK(keys > 20);
  REQUIRE(help != nullptr);
  help->trigger();
  auto* const dialog = window.findChild<KeysDialog*>();
  REQUIRE(dialog != nullptr);
  CHECK(dialog->isVisible());
}

TEST_CASE("keys are found by what they do") {
  const MainWindow window;
  KeysDialog dialog(*window.menuBar());
  dialog.show();
  const QAbstractItemModel* const model = dialog.findChild<QTableView*>()->model();
  const QAbstractItemModelTester tester(dialog.findChild<QTableView*>()->model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  QTest::keyClicks(dialog.findChild<QLineEdit*>(), "zoom");
  REQUIRE(model->rowCount() == 1);
  CHECK(model->index(0, 1).data().toString() == "+, -");
}

}  // namespace plumbline::gui
