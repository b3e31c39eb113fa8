#pragma once
/// \file memory_view.h: what one stage holds over the time of a step, by class, on the axis of the timeline.
///
/// Click: the instant. P: the peak. Left and right: the change before and after.

#include <QWidget>
#include <optional>

#include "gui/pages/timeline/memory_track.h"
#include "gui/pages/timeline/time_axis.h"
#include "gui/palette.h"

namespace plumbline::gui {

struct MemoryPicture {
  MemoryTrack track;
  Bytes capacity{0};  ///< of the device, without the headroom
  Bytes peak{0};      ///< with what the allocator loses
  Bytes lost{0};      ///< that, of it
};

class MemoryView : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryView(QWidget* parent = nullptr);
  void show_picture(std::optional<MemoryPicture> picture);
  void show_window(const TimeWindow& window);
  /// Of the track.
  void show_sample(std::size_t sample);
  [[nodiscard]] std::size_t sample() const { return sample_; }
  [[nodiscard]] QPointF peak_position() const;

 Q_SIGNALS:
  void sample_chosen(std::size_t sample);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] TimeScale scale() const { return time_scale(window_, width()); }
  [[nodiscard]] double y_of(Bytes amount) const;
  [[nodiscard]] Bytes highest() const;
  void choose(std::size_t sample);
  void paint_axis(QPainter& painter, const Palette& palette) const;
  void paint_classes(QPainter& painter, const Palette& palette) const;
  void paint_capacity(QPainter& painter, const Palette& palette) const;
  void paint_peak(QPainter& painter, const Palette& palette) const;

  std::optional<MemoryPicture> picture_;
  TimeWindow window_;
  std::size_t sample_ = 0;
};

}  // namespace plumbline::gui
