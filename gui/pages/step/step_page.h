#pragma once
/// \file step_page.h: where the time of a step goes, what one change would do, and what the answer rests on.
///
/// Checked against: tests/gui/pages/step/step_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/step/nearest_runs.h"
#include "gui/tables/table_model.h"
#include "planner/session/explain/explain.h"

class QLabel;

namespace plumbline::gui {

class Waterfall;

class StepPage : public Page {
  Q_OBJECT

 public:
  explicit StepPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return QStringLiteral("step"); }
  [[nodiscard]] QString title() const override { return tr("Step"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !explained_->is_busy() && !measured_->is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

 private:
  [[nodiscard]] QWidget* made_tables();
  void ask();
  void show_explanation(const session::Explanation& explanation);
  void show_runs(const std::vector<RunOutcome>& runs);

  LatestJob* explained_;
  LatestJob* measured_;
  std::shared_ptr<MeasuredRuns> runs_;  ///< used by the thread of `measured_` alone
  SharedPlan plan_;
  QLabel* words_ = nullptr;
  QLabel* bottleneck_ = nullptr;
  QLabel* basis_ = nullptr;
  Waterfall* waterfall_ = nullptr;
  TableModel changes_;
  TableModel assumed_;
  TableModel near_;
};

}  // namespace plumbline::gui
