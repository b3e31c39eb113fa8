#pragma once
/// \file scaling_chart.h: one figure over the number of GPUs, a line for strong and one for weak scaling.
///
/// GPUs are on a logarithmic axis. Points are told apart by shape too.

#include <QWidget>
#include <optional>
#include <vector>

#include "gui/palette.h"
#include "planner/session/size.h"

namespace plumbline::gui {

struct ScalingPoint {
  double devices = 0;
  double low = 0;
  double expected = 0;
  double high = 0;
};
struct ScalingLine {
  session::Scaling scaling = session::Scaling::strong;
  std::vector<ScalingPoint> points;  ///< by number of GPUs
};

enum class ScalingFigure : std::uint8_t { days, dollars, efficiency };
inline constexpr std::array all_scaling_figures{ScalingFigure::days, ScalingFigure::dollars, ScalingFigure::efficiency};
/// Rows on which something fits; of dollars, where a price is known.
[[nodiscard]] std::vector<ScalingLine> scaling_lines(const session::SizeAnswer& answer, ScalingFigure figure);

class ScalingChart : public QWidget {
  Q_OBJECT

 public:
  explicit ScalingChart(ScalingFigure figure, QWidget* parent = nullptr);
  /// `why_empty`: shown where there are none.
  void show_lines(std::vector<ScalingLine> lines, const QString& why_empty = {});
  [[nodiscard]] ScalingFigure figure() const { return figure_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Axes {
    QRectF plot;
    double least_devices = 1;
    double most_devices = 2;
    double most = 1;
  };
  [[nodiscard]] std::optional<Axes> axes() const;
  [[nodiscard]] QPointF place(const Axes& axes, double devices, double value) const;
  [[nodiscard]] QString value_words(double value) const;
  void paint_axes(QPainter& painter, const Axes& axes, const Palette& palette) const;
  void paint_line(QPainter& painter, const Axes& axes, const ScalingLine& line, const Palette& palette) const;

  ScalingFigure figure_;
  QString title_;
  std::vector<ScalingLine> lines_;
  QString why_empty_;
};

/// Of the lines, for legends.
[[nodiscard]] QColor colour_of(session::Scaling scaling, const Palette& palette);

}  // namespace plumbline::gui
