#pragma once
/// \file stage_bars.h: what a rank of each pipeline stage holds at its peak, by class, against the device.
///
/// Click, Left and Right: the stage.

#include <QWidget>

#include "gui/pages/memory/memory_data.h"
#include "gui/palette.h"

namespace plumbline::gui {

class StageBars : public QWidget {
  Q_OBJECT

 public:
  explicit StageBars(QWidget* parent = nullptr);
  void show_data(SharedMemory memory);
  void choose(std::size_t stage);
  [[nodiscard]] std::size_t stage() const { return stage_; }
  /// Of a stage's bar.
  [[nodiscard]] QRectF bar(std::size_t stage) const;

 Q_SIGNALS:
  void stage_chosen(std::size_t stage);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double y_of(Bytes amount) const;
  [[nodiscard]] Bytes highest() const;
  [[nodiscard]] double slot_width() const;
  void paint_axis(QPainter& painter, const Palette& palette) const;
  void paint_capacity_words(QPainter& painter, const Palette& palette) const;
  void paint_bar(QPainter& painter, std::size_t stage, const Palette& palette) const;
  void paint_capacity(QPainter& painter, std::size_t stage, const Palette& palette) const;

  SharedMemory memory_;
  std::size_t stage_ = 0;
};

}  // namespace plumbline::gui
