#pragma once
/// \file table_view.h: a view of a TableModel: sorted by a click on a title, columns chosen by a right click on one.

#include <QTableView>
#include <vector>

namespace plumbline::gui {

class TableModel;

class TableView : public QTableView {
  Q_OBJECT

 public:
  explicit TableView(TableModel& model, QWidget* parent = nullptr);

  /// Columns as wide as what they show.
  void fit_columns();
  /// Rows of the table, not places in the view, in the table's order.
  [[nodiscard]] std::vector<int> chosen_rows() const;
  void choose_row(int row);
  /// Of what a pointer rests on; -1: nothing.
  void set_hovered_row(int row);

 Q_SIGNALS:
  void hovered(int row);
  void chosen(const std::vector<int>& rows);

 protected:
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void show_column_menu(const QPoint& at);

  TableModel* model_;
  int hovered_ = -1;
};

}  // namespace plumbline::gui
