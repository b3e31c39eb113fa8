#include "gui/tables/table_model.h"

#include <QAbstractItemModelTester>

#include "planner/present/numbers.h"
#include "tests/catch.h"

namespace plumbline::gui::table_model_test {
namespace {

using Tester = QAbstractItemModelTester;

present::Table table() {
  using present::words;
  present::Table table;
  table.columns = {{"name", "name", present::Unit::text, "what it is called", present::Align::left},
                   {"tensor_parallel", "tp", present::Unit::number, "tensor-parallel ranks"}};
  table.rows = {{words("selective"), present::whole(8)},
                {words("full"), present::whole(16)},
                {words("none"), present::whole(2)},
                {words("Selective"), present::whole(2)}};
  return table;
}

std::vector<int> rows_of(const TableModel& model) {
  std::vector<int> rows;
  for (int place = 0; place < model.rowCount(); ++place) rows.push_back(model.row_of(place));
  return rows;
}

}  // namespace

TEST_CASE("a table is a model as Qt asks for, whatever is done to it") {
  TableModel model;
  const Tester tester(&model, Tester::FailureReportingMode::Fatal);
  model.set_table(table());
  model.sort(1, Qt::DescendingOrder);
  model.set_filter("selective");
  model.sort(0, Qt::AscendingOrder);
  model.set_filter("nothing like it");
  model.sort(-1, Qt::AscendingOrder);
  model.set_filter("");
  model.set_table({});
  CHECK(model.rowCount() == 0);
}

TEST_CASE("numbers are sorted as numbers, and equal ones keep their order") {
  TableModel model;
  model.set_table(table());
  model.sort(1, Qt::AscendingOrder);
  CHECK(rows_of(model) == std::vector<int>{2, 3, 0, 1});
  model.sort(1, Qt::DescendingOrder);
  CHECK(rows_of(model) == std::vector<int>{1, 0, 2, 3});
  model.sort(-1, Qt::AscendingOrder);
  CHECK(rows_of(model) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("blank cells come last either way") {
  TableModel model;
  present::Table blank = table();
  blank.rows[1][1] = present::words("");
  model.set_table(std::move(blank));
  model.sort(1, Qt::AscendingOrder);
  CHECK(rows_of(model) == std::vector<int>{2, 3, 0, 1});
  model.sort(1, Qt::DescendingOrder);
  CHECK(rows_of(model) == std::vector<int>{0, 2, 3, 1});
}

TEST_CASE("a row has the colour of the table's row, whatever the order") {
  TableModel model;
  model.set_table(table());
  model.colour_rows([](std::size_t row) { return row == 1 ? QColor(Qt::red) : QColor(); });
  model.sort(1, Qt::DescendingOrder);  // "full" first
  CHECK(model.data(model.index(0, 0), Qt::DecorationRole).value<QColor>() == QColor(Qt::red));
  CHECK_FALSE(model.data(model.index(1, 0), Qt::DecorationRole).isValid());
  CHECK_FALSE(model.data(model.index(0, 1), Qt::DecorationRole).isValid());
}

TEST_CASE("a filter takes words and comparisons, all of which must hold") {
  TableModel model;
  model.set_table(table());
  const auto filtered = [&](const char* words) {
    model.set_filter(words);
    return rows_of(model);
  };
  CHECK(filtered("selective") == std::vector<int>{0, 3});
  CHECK(filtered("tp>=8") == std::vector<int>{0, 1});
  CHECK(filtered("tp=2 selective") == std::vector<int>{3});
  CHECK(filtered("tensor_parallel<8") == std::vector<int>{2, 3});
  CHECK(filtered("tp>2 tp<=8") == std::vector<int>{0});
  CHECK(filtered("tp>99").empty());
  CHECK(filtered("").size() == 4);
}

TEST_CASE("chosen rows stay chosen when the order changes") {
  TableModel model;
  model.set_table(table());
  const QPersistentModelIndex chosen = model.index(1, 0);  // "full", the largest
  model.sort(1, Qt::AscendingOrder);
  CHECK(chosen.row() == 3);
  CHECK(model.row_of(chosen.row()) == 1);
}

TEST_CASE("a new table with the same column stays sorted by it, and says what columns mean") {
  TableModel model;
  model.set_table(table());
  model.sort(1, Qt::AscendingOrder);
  model.set_table(table());
  CHECK(rows_of(model).front() == 2);
  CHECK(model.headerData(1, Qt::Horizontal, Qt::ToolTipRole).toString() == "tensor-parallel ranks");
  CHECK(model.data(model.index(0, 1), Qt::DisplayRole).toString() == "2");
  CHECK(model.shown().rows.front().front().text == "none");
}

}  // namespace plumbline::gui::table_model_test
