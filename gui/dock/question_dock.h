#pragma once
/// \file question_dock.h: the question on the left of the window, and below it how far its search is.
///
/// Checked against: tests/gui/dock/question_dock_test.cpp.

#include <QWidget>
#include <map>

#include "gui/question/question_model.h"
#include "gui/search/search_session.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QVBoxLayout;

namespace plumbline::gui {

class FieldEdit;
class MachineDialog;

class QuestionDock : public QWidget {
  Q_OBJECT

 public:
  /// Both outlive it. Asks the search for every question that is whole and has no wrong value.
  QuestionDock(QuestionModel& model, SearchSession& search, QWidget* parent = nullptr);

  [[nodiscard]] FieldEdit& field(Field field) const { return *fields_.at(field); }
  /// What is said below the fields: how far the search is, or what it found.
  [[nodiscard]] QString status() const;
  /// Brings a field into sight.
  void reveal(Field field);
  /// Opens the numbers of the cluster, to be edited.
  void show_machine();
  /// nullptr: it was never opened.
  [[nodiscard]] MachineDialog* machine_dialog() const { return machine_dialog_; }

 private:
  void add_group(FieldGroup group, QVBoxLayout& column);
  void take(Field field, const QString& text);
  QWidget* make_machine_line();
  QWidget* make_foot();
  void follow_search();
  void show_form();
  void show_refusal(const Refusal& refusal);
  void show_found(const Found& found);

  QuestionModel* model_;
  SearchSession* search_;
  std::map<Field, FieldEdit*> fields_;
  QScrollArea* scroll_;
  QLabel* machine_words_;
  MachineDialog* machine_dialog_ = nullptr;
  QProgressBar* progress_;
  QLabel* status_;
  QPushButton* cancel_;
};

}  // namespace plumbline::gui
