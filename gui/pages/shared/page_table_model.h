#pragma once
/// \file page_table_model.h: a table of planner/present as Qt shows it: sorted by numbers, columns explained.
///
/// Checked against: tests/gui/pages/shared/page_table_model_test.cpp.

#include <QAbstractTableModel>
#include <QColor>
#include <functional>
#include <utility>
#include <vector>

#include "planner/present/table.h"

namespace plumbline::gui {

class PageTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// In place of what was shown; unsorted.
  void show(present::Table table);
  [[nodiscard]] const present::Table& table() const { return table_; }
  /// A box of colour before the first cell of a row of the table; an invalid colour: none.
  void colour_rows(std::function<QColor(std::size_t row)> colour) { colour_ = std::move(colour); }
  /// The table's row that is shown in this line.
  [[nodiscard]] std::size_t row_at(int line) const { return order_[static_cast<std::size_t>(line)]; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Numbers by size, words by their letters; cells without either come last. Equal rows keep their order.
  void sort(int column, Qt::SortOrder order) override;

 private:
  [[nodiscard]] const present::Cell& cell(std::size_t line, int column) const;

  present::Table table_;
  std::vector<std::size_t> order_;
  std::function<QColor(std::size_t row)> colour_;
};

}  // namespace plumbline::gui
