#pragma once
/// \file plans_page.h: what a search found: a ranking beside a picture of time and memory, linked both ways.
///
/// Checked against: tests/gui/pages/plans_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/plans/ranked_plans.h"
#include "gui/search/search_session.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QToolButton;

namespace plumbline::gui {

class Card;
class ScatterPlot;
class TableModel;
class TableView;

class PlansPage : public Page {
  Q_OBJECT

 public:
  explicit PlansPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return "plans"; }
  [[nodiscard]] QString title() const override { return tr("Plans"); }
  /// A plan that was opened from a file is in no ranking; the page shows what was searched.
  void show_plan(SharedPlan) override {}
  [[nodiscard]] bool is_complete() const override { return !unfolding_.is_busy(); }
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  void show_found(const SharedFound& found);
  /// Until the answer is there; no plan of these can be chosen.
  void show_so_far(const SharedSoFar& found);
  /// Without an answer: what was found before is shown again.
  void end_so_far();
  /// The question has changed since: what is shown answers another one.
  void set_outdated(bool is_outdated);
  [[nodiscard]] const SharedFound& found() const { return found_; }
  [[nodiscard]] TableModel& ranking() const { return *ranking_; }
  /// The rows of the ranking, whatever order they are shown in.
  [[nodiscard]] const std::vector<RankedPlan>& plans() const { return plans_; }
  /// As if somebody had clicked the plan.
  void choose(int plan);

 Q_SIGNALS:
  /// Places in `plans()`, from 0.
  void chosen(const std::vector<int>& plans);

 private:
  QWidget* make_picture_card();
  QWidget* make_table_card();
  QWidget* make_reasons();
  void make_table_tools();
  void link();
  void link_tools();
  void unfold(bool is_unfolded);
  void show_plans(std::vector<RankedPlan> plans);
  void show_words(const session::SearchAnswer& answer);
  void show_notes();

  SharedFound found_;
  std::vector<RankedPlan> plans_;
  bool is_so_far_ = false;  ///< whether what is shown cannot be chosen yet
  LatestJob unfolding_;
  Card* picture_card_;
  ScatterPlot* scatter_;
  QComboBox* shade_;
  QToolButton* intervals_;
  Card* table_card_;
  TableModel* ranking_;
  TableView* ranking_view_;
  TableModel* reasons_;
  TableView* reasons_view_;
  QToolButton* unfold_button_;
  QToolButton* reasons_button_;
  QLineEdit* filter_;
  QLabel* words_;
  QStringList notes_;
};

}  // namespace plumbline::gui
