#pragma once
/// \file machine_dialog.h: the numbers of the question's cluster with their sources, any of which may be edited.
///
/// Checked against: tests/gui/dock/machine_model_test.cpp.

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace plumbline::gui {

class MachineModel;
class QuestionModel;

class MachineDialog : public QDialog {
  Q_OBJECT

 public:
  explicit MachineDialog(QuestionModel& question, QWidget* parent = nullptr);

  [[nodiscard]] MachineModel& numbers() const { return *numbers_; }
  [[nodiscard]] QTableView& view() const { return *view_; }
  /// What was refused last, or how many numbers are edited.
  [[nodiscard]] QString words() const;

 private:
  void lay_out();
  void reset_chosen();
  void show_state();

  QuestionModel* question_;
  MachineModel* numbers_;
  QSortFilterProxyModel* filtered_;
  QLineEdit* filter_;
  QTableView* view_;
  QLabel* words_;
  QPushButton* reset_;
  QPushButton* reset_all_;
};

}  // namespace plumbline::gui
