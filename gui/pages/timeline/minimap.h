#pragma once
/// \file minimap.h: the whole step in one strip, all stages together, and the part of it that is looked at.
///
/// A column is as many parts forward, backward, ... as stages do that then. Click or drag: move there.

#include <QImage>
#include <QWidget>

#include "gui/pages/timeline/time_axis.h"
#include "gui/pages/timeline/timeline_data.h"

namespace plumbline::gui {

class Minimap : public QWidget {
  Q_OBJECT

 public:
  explicit Minimap(QWidget* parent = nullptr);
  void show_data(SharedTimeline timeline);
  void show_window(const TimeWindow& window);

 Q_SIGNALS:
  void window_changed(const TimeWindow& window);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] QRectF strip() const;
  void centre_at(double x);
  void draw_cache();

  SharedTimeline data_;
  TimeWindow window_;
  QImage cache_;  ///< null: to be drawn anew
};

}  // namespace plumbline::gui
