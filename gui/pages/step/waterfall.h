#pragma once
/// \file waterfall.h: the time of a step by cause, each cause from where the one before it ends.
///
/// Checked against: tests/gui/pages/step/step_page_test.cpp (sums to the step).

#include <QWidget>
#include <vector>

#include "core/plan/estimate.h"
#include "gui/palette.h"

namespace plumbline::gui {

struct WaterfallPart {
  TimeCause cause = TimeCause::compute;
  Picoseconds begin{0};
  Picoseconds end{0};
};
/// Causes that take time, in their order.
[[nodiscard]] std::vector<WaterfallPart> waterfall_parts(const TimeBreakdown& time);

class Waterfall : public QWidget {
  Q_OBJECT

 public:
  explicit Waterfall(QWidget* parent = nullptr);
  void show_step(const TimeBreakdown& time, const Interval& seconds);
  void clear();

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] double x_of(double seconds) const;
  [[nodiscard]] double row_height() const;
  [[nodiscard]] int rows() const { return parts_.empty() ? 0 : static_cast<int>(parts_.size()) + 1; }
  void paint_row(QPainter& painter, int row, const QString& name, double seconds, const Palette& palette) const;
  void paint_total(QPainter& painter, const Palette& palette) const;

  std::vector<WaterfallPart> parts_;
  Interval seconds_;
};

}  // namespace plumbline::gui
