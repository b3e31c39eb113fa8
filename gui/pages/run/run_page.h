#pragma once
/// \file run_page.h: the plan trained on this computer, its loss while it runs, then predicted against measured.
///
/// Checked against: tests/gui/pages/run_page_test.cpp.

#include <memory>

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/run/plan_run.h"
#include "planner/compare/compare.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QTabWidget;

namespace plumbline::gui {

class Card;
class StepPlot;
class TableModel;
class TableView;

class RunPage : public Page {
  Q_OBJECT

 public:
  explicit RunPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return "run"; }
  [[nodiscard]] QString title() const override { return tr("Run"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !run_.is_running() && !compared_.is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  /// A record of a run of this plan, held against it.
  void open_record(const QString& file);
  void set_steps(int steps);
  [[nodiscard]] PlanRun& run() { return run_; }
  [[nodiscard]] const StepPlot& losses() const { return *losses_; }
  [[nodiscard]] const StepPlot& throughput() const { return *throughput_; }
  /// Predicted against measured; empty: nothing was compared yet.
  [[nodiscard]] QString compared_words() const;

 public Q_SLOTS:
  void start();

 Q_SIGNALS:
  /// A click on the button that opens a record.
  void browse_asked();
  /// What went wrong, in a line; empty: what was said before holds no more.
  void said(const QString& words);
  /// A run of this plan was recorded, or its record opened.
  void recorded(const plumbline::gui::SharedPlan& plan, const std::shared_ptr<const plumbline::RunRecord>& record);

 private:
  struct Part {
    QString title;
    TableModel* model;
    TableView* view;
  };
  QWidget* make_controls();
  QWidget* make_plots();
  QWidget* make_comparison();
  void link();
  void note(const RunLine& step);
  void show_comparison(const Comparison& comparison);
  void set_running(bool is_running);

  SharedPlan plan_;
  SharedPlan run_plan_;  ///< of the run
  PlanRun run_;
  LatestJob compared_;
  QString waiting_record_;
  Card* card_;
  QSpinBox* steps_;
  QComboBox* ranks_;
  QPushButton* start_;
  QPushButton* stop_;
  QLabel* state_;
  QWidget* plots_;
  StepPlot* losses_;
  StepPlot* throughput_;
  Card* comparison_;
  QTabWidget* tables_tab_;
  QWidget* no_tables_;  ///< in its place
  std::vector<Part> parts_;
};

}  // namespace plumbline::gui
