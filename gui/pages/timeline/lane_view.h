#pragma once
/// \file lane_view.h: stages by time, to zoom, move and unfold with wheel, mouse and keys.
///
/// Wheel: zoom at the pointer; with Shift: move in time; with Control: scroll the stages. Drag: move. Click: choose the
/// stage and the instant. Double click: unfold. Keys: arrows, Page Up and Down, + and -, Home or F for the whole step,
/// Enter to unfold the chosen stage.
/// Checked against: tests/gui/pages/timeline/timeline_page_test.cpp; bench/gui/timeline_paint_bench.cpp (time of a
/// frame).

#include <QAbstractScrollArea>
#include <QPointF>
#include <optional>

#include "gui/pages/timeline/lane_picture.h"

namespace plumbline::gui {

class LaneView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit LaneView(QWidget* parent = nullptr);

  /// nullptr: nothing.
  void show_data(SharedTimeline timeline);
  void show_window(const TimeWindow& window);
  [[nodiscard]] const TimeWindow& window() const { return picture_.window; }
  void choose_stage(std::size_t stage);
  [[nodiscard]] std::size_t chosen_stage() const { return picture_.stage; }
  void show_instant(std::optional<double> time);
  void toggle(std::size_t stage);
  [[nodiscard]] const LaneRows& rows() const { return picture_.rows; }
  /// What is at a point of the viewport: "stage 3, backward of micro-batch 12, 4.5 ms from 81.2 ms".
  [[nodiscard]] QString words_at(QPointF position) const;

 Q_SIGNALS:
  void window_changed(const TimeWindow& window);
  void stage_chosen(std::size_t stage);
  void instant_chosen(double time);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  [[nodiscard]] LaneViewport seen() const;
  void change_window(const TimeWindow& window);
  void fit_scroll_bar();
  [[nodiscard]] bool move_by_key(int key);

  LanePicture picture_;
  std::optional<QPointF> pressed_;
  TimeWindow pressed_window_;
  int pressed_scroll_ = 0;
  bool is_dragged_ = false;
};

}  // namespace plumbline::gui
