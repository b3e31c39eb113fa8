#pragma once
/// \file table_view.h: a view of a TableModel: sorted by a click on a title, columns chosen by a right click on one.
///
/// Keys: S sorts by the current column, the menu key (Shift+F10) chooses columns. Where there is too little room,
/// columns leave as they do on a terminal (column_room.h) until somebody chooses columns, and words in the last one are
/// cut. Checked against: tests/gui/tables/table_view_test.cpp.

#include <QByteArray>
#include <QStringList>
#include <QTableView>
#include <functional>
#include <utility>
#include <vector>

class QMenu;

namespace plumbline::gui {

class TableModel;

class TableView : public QTableView {
  Q_OBJECT

 public:
  /// `name`: for screen readers.
  TableView(TableModel& model, const QString& name, QWidget* parent = nullptr);

  /// Rows of the table, not places in the view, in the table's order.
  [[nodiscard]] std::vector<int> chosen_rows() const;
  void choose_row(int row);
  /// Of what a pointer rests on; -1: nothing.
  void set_hovered_row(int row);

  /// Which columns left for want of room: "in all rows: sp on; no room for: tok/s/GPU"; empty: none.
  [[nodiscard]] const QString& room_words() const { return room_words_; }

  /// What a right click on a row offers ahead of the choice of columns. `row` is one of the table.
  using RowMenu = std::function<void(QMenu& menu, int row)>;
  void set_row_menu(RowMenu fill) { row_menu_ = std::move(fill); }
  /// Which columns somebody chose and their order, by their ids, for the next start; empty: nobody did.
  [[nodiscard]] QByteArray saved_columns() const;
  void restore_columns(const QByteArray& saved);

 Q_SIGNALS:
  void hovered(int row);
  void room_changed();
  void chosen(const std::vector<int>& rows);

 protected:
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Columns as wide as what they show.
  void measure_columns();
  void fit_columns();
  void cut_words(int room);
  void show_column_menu(const QPoint& global);
  void fill_column_menu(QMenu& menu);
  void place_saved_columns();
  [[nodiscard]] int column_of(const QString& id) const;

  TableModel* model_;
  std::vector<int> widths_;  ///< of columns that have as much room as they need
  QString room_words_;
  bool is_chosen_by_hand_ = false;
  QStringList saved_order_, saved_hidden_;  ///< ids of columns of an earlier start; empty: none
  RowMenu row_menu_;
  int hovered_ = -1;
};

}  // namespace plumbline::gui
