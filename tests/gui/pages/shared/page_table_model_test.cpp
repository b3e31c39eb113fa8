// A table of planner/present as a model of Qt.
#include "gui/pages/shared/page_table_model.h"

#include <QAbstractItemModelTester>

#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui {
namespace {

present::Table sample_table() {
  return {{{"name", "name", present::Unit::text, "what it is called", present::Align::left},
           {"size", "size GiB", present::Unit::gibibytes, "how large it is"}},
          {{present::words("ten"), present::decimal(10, 1)},
           {present::words("none"), present::words("")},
           {present::words("nine"), present::decimal(9, 1)}}};
}

QStringList shown(const PageTableModel& model) {
  QStringList names;
  for (int line = 0; line < model.rowCount(); ++line)
    names.append(model.data(model.index(line, 0), Qt::DisplayRole).toString());
  return names;
}

TEST_CASE("a table model keeps the rules of Qt's models") {
  PageTableModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.show(sample_table());
  const QPersistentModelIndex nine = model.index(2, 0);
  model.sort(1, Qt::AscendingOrder);
  CHECK(nine.row() == 0);
  CHECK(model.row_at(0) == 2);
  model.show({});
  CHECK(model.rowCount() == 0);
}

TEST_CASE("a table is sorted by numbers, and blank cells come last either way") {
  PageTableModel model;
  model.show(sample_table());
  model.sort(1, Qt::AscendingOrder);
  CHECK(shown(model) == QStringList{"nine", "ten", "none"});
  model.sort(1, Qt::DescendingOrder);
  CHECK(shown(model) == QStringList{"ten", "nine", "none"});
  model.sort(0, Qt::AscendingOrder);
  CHECK(shown(model) == QStringList{"nine", "none", "ten"});
}

TEST_CASE("headers say titles and explanations") {
  PageTableModel model;
  model.show(sample_table());
  CHECK(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString() == "size GiB");
  CHECK(model.headerData(1, Qt::Horizontal, Qt::ToolTipRole).toString() == "how large it is");
  CHECK(model.data(model.index(0, 1), Qt::TextAlignmentRole).toInt() == int(Qt::AlignRight | Qt::AlignVCenter));
}

}  // namespace
}  // namespace plumbline::gui
