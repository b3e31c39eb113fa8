#pragma once
/// \file scaling_page.h: time, cost and efficiency of the run over the number of GPUs, strong and weak.
///
/// Model: that of `plan size`: of each number of GPUs the best plan of a search.
/// Checked against: tests/gui/pages/scaling/scaling_page_test.cpp.

#include <QString>
#include <array>
#include <string>
#include <vector>

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/scaling/scaling_chart.h"
#include "gui/tables/table_model.h"
#include "planner/question/task.h"

class QLabel;
class QPushButton;

namespace plumbline::gui {

class Legend;

/// What the page shows of an answer.
struct ShownScaling {
  std::string words;
  std::string least;  ///< the fewest GPUs within the limits of the run, as `plan size` says; empty: it has no limits
  std::string note;   ///< on a budget that the question does not say, and what marks and efficiency mean
  /// Of each of all_scaling_figures, what the run may take at most; 0: no limit.
  std::array<double, all_scaling_figures.size()> limits{};
  /// Of each of all_scaling_figures, rows on which something fits; of dollars, where a price is known.
  std::array<std::vector<ScalingLine>, all_scaling_figures.size()> lines;
  std::string strong_words, weak_words;
  present::Table strong, weak;

  [[nodiscard]] const std::vector<ScalingLine>& lines_of(ScalingFigure figure) const {
    return lines[static_cast<std::size_t>(figure)];
  }
};
/// Searches, on any thread.
[[nodiscard]] ShownScaling shown_scaling(const PricedPlan& plan, const Task& task = {});

class ScalingPage : public Page {
  Q_OBJECT

 public:
  explicit ScalingPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return QStringLiteral("scaling"); }
  [[nodiscard]] QString title() const override { return tr("Scaling"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !task_->is_busy(); }
  [[nodiscard]] QWidget* picture() override { return picture_; }
  [[nodiscard]] std::vector<NamedTable> tables() const override;

 private:
  [[nodiscard]] QWidget* made_picture();
  void ask();
  void show_scaling(const ShownScaling& scaling);
  void clear();

  LatestJob* task_;
  SharedPlan plan_;
  QLabel* words_ = nullptr;
  QLabel* least_ = nullptr;
  QLabel* note_ = nullptr;
  QLabel* strong_words_ = nullptr;
  QLabel* weak_words_ = nullptr;
  QPushButton* stop_ = nullptr;
  QWidget* picture_ = nullptr;
  Legend* legend_ = nullptr;
  std::vector<ScalingChart*> charts_;
  TableModel strong_;
  TableModel weak_;
};

}  // namespace plumbline::gui
