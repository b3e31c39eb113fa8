#pragma once
/// \file table_model.h: a table of planner/present for Qt's views, sorted and filtered by itself.
///
/// Model: cells are never copied or moved; an index vector says which rows are shown, in which order. Rows with equal
/// cells keep their order, blank ones come last.
/// Checked against: tests/gui/tables/table_model_test.cpp, with QAbstractItemModelTester.

#include <QAbstractTableModel>
#include <QColor>
#include <QString>
#include <QStringList>
#include <functional>
#include <vector>

#include "planner/present/table.h"

namespace plumbline::gui {

/// What a view shows of a row as a whole.
struct RowMarks {
  std::vector<char> tied;    ///< rows that nothing tells apart from the best one; empty: none
  std::vector<char> bold;    ///< empty: none
  std::vector<char> faint;   ///< rows that break a limit; empty: none
  std::vector<QString> tip;  ///< empty: those of the columns
};

class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int tied_role = Qt::UserRole;
  static constexpr int faint_role = Qt::UserRole + 1;

  using QAbstractTableModel::QAbstractTableModel;

  void set_table(present::Table table, RowMarks marks = {});
  [[nodiscard]] const present::Table& table() const { return table_; }
  /// A box of colour before the first cell of a row of the table; an invalid colour: none.
  void colour_rows(std::function<QColor(std::size_t row)> colour) { colour_ = std::move(colour); }
  /// Words apart by blanks, all of which a row must hold: a part of a cell's text, or a column's title with a number,
  /// such as "tp>=4" or "pp=8". Letters may be small or capital.
  void set_filter(const QString& words);

  /// The table's row that is shown at `place`, and back; -1: it is filtered out.
  [[nodiscard]] int row_of(int place) const { return order_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] int place_of(int row) const;
  /// What is shown, as it is sorted and filtered.
  [[nodiscard]] present::Table shown() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 Q_SIGNALS:
  /// Another table is shown, perhaps with other columns.
  void table_changed();

 private:
  [[nodiscard]] bool is_kept(const std::vector<present::Cell>& row) const;
  [[nodiscard]] std::vector<int> chosen_order() const;
  void reorder();
  [[nodiscard]] QVariant colour(const QModelIndex& index) const;
  [[nodiscard]] QVariant tip(const QModelIndex& index) const;

  present::Table table_;
  RowMarks marks_;
  QStringList filter_;
  int sorted_by_ = -1;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  std::vector<int> order_;
  std::function<QColor(std::size_t row)> colour_;
};

}  // namespace plumbline::gui
