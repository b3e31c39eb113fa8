#pragma once
/// \file plans_page.h: what a search found: a ranking beside a picture of time and memory, linked both ways.
///
/// Checked against: tests/gui/pages/plans_page_test.cpp.

#include "gui/page.h"
#include "gui/search/search_session.h"

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
  [[nodiscard]] QWidget* picture() override;
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  void show_found(const SharedFound& found);
  /// The question has changed since: what is shown answers another one.
  void set_outdated(bool is_outdated);
  [[nodiscard]] const SharedFound& found() const { return found_; }
  [[nodiscard]] TableModel& ranking() const { return *ranking_; }
  /// As if somebody had clicked the plan.
  void choose(int plan);

 Q_SIGNALS:
  /// Places in `found()->answer.plans`, from 0.
  void chosen(const std::vector<int>& plans);

 private:
  QWidget* make_picture_card();
  QWidget* make_table_card();
  QWidget* make_reasons();
  void link();
  void show_words(const session::SearchAnswer& answer);

  SharedFound found_;
  Card* picture_card_;
  ScatterPlot* scatter_;
  Card* table_card_;
  TableModel* ranking_;
  TableView* ranking_view_;
  TableModel* reasons_;
  TableView* reasons_view_;
  QToolButton* reasons_button_;
  QLineEdit* filter_;
  QLabel* words_;
};

}  // namespace plumbline::gui
