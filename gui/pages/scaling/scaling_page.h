#pragma once
/// \file scaling_page.h: time, cost and efficiency of the run over the number of GPUs, strong and weak.
///
/// Model: that of `plan size` (planner/session/size.h): of each number of GPUs the best plan of a search.
/// Checked against: tests/gui/pages/scaling/scaling_page_test.cpp.

#include <QString>
#include <vector>

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/tables/table_model.h"
#include "planner/session/size.h"

class QLabel;
class QPushButton;

namespace plumbline::gui {

class Legend;
class ScalingChart;

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
  void show_answer(const session::SizeAnswer& answer, const std::string& remark);
  void clear();

  LatestJob* task_;
  SharedPlan plan_;
  QLabel* words_ = nullptr;
  QLabel* remark_ = nullptr;
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
