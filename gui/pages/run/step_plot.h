#pragma once
/// \file step_plot.h: the loss or the throughput of a run, step by step, while it runs.
///
/// Checked against: tests/gui/pages/run_page_test.cpp.

#include <QWidget>
#include <vector>

#include "gui/io/run_line_json.h"
#include "gui/scatter/axis_scale.h"

namespace plumbline::gui {

enum class StepFigure : std::uint8_t { loss, tokens_per_second };

class StepPlot : public QWidget {
  Q_OBJECT

 public:
  explicit StepPlot(StepFigure figure, QWidget* parent = nullptr);

  void clear(std::int64_t steps);
  void add(const RunLine& step);
  [[nodiscard]] const std::vector<RunLine>& steps() const { return lines_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 160}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] double value_of(const RunLine& line) const;
  [[nodiscard]] QString words_of(double value, int digits) const;
  [[nodiscard]] AxisScale scale_of(const QRectF& plot) const;
  void paint_ticks(QPainter& painter, const QRectF& plot, const AxisScale& scale) const;
  void paint_curve(QPainter& painter, const QRectF& plot, const AxisScale& scale) const;

  StepFigure figure_;
  std::int64_t planned_ = 1;
  std::vector<RunLine> lines_;
};

}  // namespace plumbline::gui
