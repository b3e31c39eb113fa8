#pragma once
/// \file memory_page.h: what every stage holds, of what, and what other choices would hold.
///
/// Checked against: tests/gui/pages/memory/memory_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/memory/memory_data.h"
#include "gui/tables/table_model.h"

class QLabel;

namespace plumbline::gui {

class KnobPanel;
class Legend;
class StageBars;
class Treemap;

class MemoryPage : public Page {
  Q_OBJECT

 public:
  explicit MemoryPage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return QStringLiteral("memory"); }
  [[nodiscard]] QString title() const override { return tr("Memory"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !prices_->is_busy() && !trees_->is_busy(); }
  [[nodiscard]] QWidget* picture() override { return picture_; }
  [[nodiscard]] std::vector<NamedTable> tables() const override;

 private:
  [[nodiscard]] QWidget* made_picture();
  [[nodiscard]] QWidget* made_side();
  void ask();
  void show_data(SharedMemory memory);
  void show_trees(std::vector<std::vector<MemoryBranch>> trees);
  void show_stage(std::size_t stage);
  void show_refusal(const QString& words);

  LatestJob* prices_;
  LatestJob* trees_;
  SharedPlan plan_;
  SharedMemory memory_;
  std::vector<std::vector<MemoryBranch>> tree_of_;  ///< by stage; empty: not computed yet
  QLabel* strategy_ = nullptr;
  QLabel* words_ = nullptr;
  QLabel* marked_ = nullptr;
  QWidget* picture_ = nullptr;
  StageBars* bars_ = nullptr;
  Treemap* treemap_ = nullptr;
  Legend* legend_ = nullptr;
  KnobPanel* knobs_ = nullptr;
  TableModel classes_;
};

}  // namespace plumbline::gui
