#pragma once
/// \file compare_page.h: plans side by side: those that were chosen together, or one and its best neighbour.
///
/// Choices and figures, step times by cause, memory, and the simulated steps on one axis. A neighbour differs in one
/// step along one axis (planner/explain/changes.h). Checked against: tests/gui/pages/compare_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"

class QLabel;

namespace plumbline::gui {

class Card;
class StackedBars;
class TableModel;
class TableView;
class TimelineStrips;

class ComparePage : public Page {
  Q_OBJECT

 public:
  explicit ComparePage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return "compare"; }
  [[nodiscard]] QString title() const override { return tr("Compare"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !neighbour_.is_busy() && !simulated_.is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  /// What was chosen together, the first one included; fewer than two: the neighbour is looked for.
  void set_others(std::vector<Plan> plans);
  /// What is compared now.
  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }
  [[nodiscard]] const TimelineStrips& timelines() const { return *timelines_; }

 private:
  void look_for_neighbour(const SharedPlan& plan);
  void compare(std::vector<Plan> plans, const QString& words);
  void simulate(const SharedPlan& asked);
  QWidget* make_pictures();
  QWidget* make_scrolled_pictures();

  std::vector<Plan> chosen_;
  std::vector<Plan> plans_;
  LatestJob neighbour_;
  LatestJob simulated_;
  QLabel* names_;
  Card* card_;
  QWidget* pictures_ = nullptr;
  StackedBars* time_;
  StackedBars* memory_;
  TimelineStrips* timelines_;
  TableModel* table_;
  TableView* view_;
};

}  // namespace plumbline::gui
