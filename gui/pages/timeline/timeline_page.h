#pragma once
/// \file timeline_page.h: one step of a plan: who does what when, what it holds then, and what that is.
///
/// Checked against: tests/gui/pages/timeline/timeline_page_test.cpp.

#include "gui/background/latest_job.h"
#include "gui/page.h"
#include "gui/pages/timeline/memory_track.h"
#include "gui/pages/timeline/timeline_data.h"
#include "gui/tables/table_model.h"

class QLabel;
class QSplitter;

namespace plumbline::gui {

class LaneView;
class Legend;
class MemoryView;
class Minimap;
class TimeWindow;

class TimelinePage : public Page {
  Q_OBJECT

 public:
  explicit TimelinePage(QWidget* parent = nullptr);

  [[nodiscard]] QString id() const override { return QStringLiteral("timeline"); }
  [[nodiscard]] QString title() const override { return tr("Timeline"); }
  void show_plan(SharedPlan plan) override;
  [[nodiscard]] bool is_complete() const override { return !task_->is_busy(); }
  [[nodiscard]] QWidget* picture() override { return picture_; }
  [[nodiscard]] std::vector<NamedTable> tables() const override;

  /// A run of this plan, beside the simulated step whenever the plan is shown.
  void show_record(const SharedPlan& plan, const SharedRecord& record);
  [[nodiscard]] const LaneView& lanes() const { return *lanes_; }

 private:
  [[nodiscard]] QWidget* made_head();
  [[nodiscard]] QWidget* made_picture();
  [[nodiscard]] QWidget* made_details();
  void connect_views();
  void show_data(SharedTimeline timeline);
  void show_stage(std::size_t stage);
  void show_instant(double time);
  void show_sample(std::size_t sample);
  void show_legend();

  LatestJob* task_;
  SharedPlan plan_;
  SharedPlan recorded_plan_;
  SharedRecord record_;  ///< of a run of that
  SharedTimeline data_;
  MemoryTrack track_;  ///< of the chosen stage
  QLabel* words_ = nullptr;
  QWidget* picture_ = nullptr;
  LaneView* lanes_ = nullptr;
  MemoryView* memory_ = nullptr;
  Minimap* minimap_ = nullptr;
  Legend* legend_ = nullptr;
  QLabel* instant_ = nullptr;
  TableModel classes_;
  TableModel buffers_;
};

}  // namespace plumbline::gui
