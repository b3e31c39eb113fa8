#pragma once
/// \file compare_page.h: plans side by side: those that were chosen together, or one and its best neighbour.
///
/// A neighbour differs in one step along one axis (planner/explain/changes.h).
/// Checked against: tests/gui/pages/compare_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"

class QLabel;

namespace plumbline::gui {

class Card;
class StackedBars;
class TableModel;
class TableView;

class ComparePage : public Page {
  Q_OBJECT

 public:
  explicit ComparePage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return "compare"; }
  [[nodiscard]] QString title() const override { return tr("Compare"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !neighbour_.is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  /// What was chosen together, the first one included; fewer than two: the neighbour is looked for.
  void set_others(std::vector<Plan> plans);
  /// What is compared now.
  [[nodiscard]] const std::vector<Plan>& plans() const { return plans_; }

 private:
  void look_for_neighbour(const SharedPlan& plan);
  void compare(std::vector<Plan> plans, const QString& words);

  std::vector<Plan> chosen_;
  std::vector<Plan> plans_;
  LatestJob neighbour_;
  QLabel* names_;
  Card* card_;
  StackedBars* time_;
  StackedBars* memory_;
  TableModel* table_;
  TableView* view_;
};

}  // namespace plumbline::gui
