#pragma once
/// \file start_page.h: where somebody begins: an example in one click, a session of before, a file that is dropped.
///
/// Checked against: tests/gui/window/main_window_test.cpp.

#include "gui/page.h"
#include "gui/question/question_form.h"

class QPushButton;
class QVBoxLayout;

namespace plumbline::gui {

class Card;

class StartPage : public Page {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return "start"; }
  [[nodiscard]] QString title() const override { return tr("Start"); }
  void show_plan(SharedPlan) override {}
  /// The latest first.
  void show_recent(const QStringList& files);

 Q_SIGNALS:
  void example_chosen(const plumbline::gui::QuestionForm& form, const QString& title);
  void file_chosen(const QString& file);
  void browse_asked();

 private:
  QWidget* make_examples();
  QWidget* make_drop_field();

  QPushButton* open_;
  Card* recent_;
  QVBoxLayout* recent_files_;
};

}  // namespace plumbline::gui
