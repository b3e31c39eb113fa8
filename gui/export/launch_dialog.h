#pragma once
/// \file launch_dialog.h: a plan as launch files of a framework: which, what it cannot express, and the files.
///
/// Model: that of `plan export` (planner/session/export/export.h), computed on another thread.
/// Checked against: tests/gui/export/export_test.cpp (the files that `plan export --out` writes).

#include <QDialog>

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "planner/session/export/export.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;

namespace plumbline::gui {

class LaunchDialog : public QDialog {
  Q_OBJECT

 public:
  explicit LaunchDialog(SharedPlan plan, QWidget* parent = nullptr);

  /// "megatron-lm"; false: there is no such target.
  bool choose_target(const QString& name);
  [[nodiscard]] bool is_complete() const { return !job_.is_busy(); }
  /// What the target cannot express and what is written instead, or why nothing can be written.
  [[nodiscard]] QString words() const;
  /// Into a folder, which is made. Throws InputError and EnvironmentError.
  void write(const QString& folder) const;
  /// The same, where files of the folder that say something else may be replaced: a question asks that. Says in
  /// `words` what was done.
  void write_asking(const QString& folder);

 private:
  void lay_out();
  void fill_releases();
  void ask();
  void show_answer(session::ExportAnswer answer);
  void show_refusal(const QString& words);
  void browse();

  SharedPlan plan_;
  LatestJob job_;
  session::ExportAnswer answer_;
  QComboBox* target_;
  QComboBox* release_;
  QLabel* words_;
  QTabWidget* files_;
  QPushButton* write_;
};

}  // namespace plumbline::gui
