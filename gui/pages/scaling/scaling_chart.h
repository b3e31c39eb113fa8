#pragma once
/// \file scaling_chart.h: one figure over the number of GPUs, a line for each kind of scaling.
///
/// GPUs are on a logarithmic axis. Points are told apart by shape too.

#include <QWidget>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/palette.h"

namespace plumbline::gui {

struct ScalingPoint {
  double devices = 0;
  double low = 0;
  double expected = 0;
  double high = 0;
};
/// Whole lines with round points, or dashed ones with square points.
enum class LineLook : std::uint8_t { whole, dashed };
struct ScalingLine {
  std::string name;  ///< "strong"
  LineLook look = LineLook::whole;
  std::vector<ScalingPoint> points;  ///< by number of GPUs
};

enum class ScalingFigure : std::uint8_t { days, dollars, efficiency };
inline constexpr std::array all_scaling_figures{ScalingFigure::days, ScalingFigure::dollars, ScalingFigure::efficiency};

class ScalingChart : public QWidget {
  Q_OBJECT

 public:
  explicit ScalingChart(ScalingFigure figure, QWidget* parent = nullptr);
  /// `why_empty`: shown where there are none. `limit`: what the run may take at most; 0: no limit.
  void show_lines(std::vector<ScalingLine> lines, const QString& why_empty = {}, double limit = 0);
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
  void paint_limit(QPainter& painter, const Axes& axes, const Palette& palette) const;
  void paint_line(QPainter& painter, const Axes& axes, const ScalingLine& line, const Palette& palette) const;

  ScalingFigure figure_;
  QString title_;
  std::vector<ScalingLine> lines_;
  QString why_empty_;
  double limit_ = 0;
};

/// Of the lines, for legends.
[[nodiscard]] QColor colour_of(LineLook look, const Palette& palette);

}  // namespace plumbline::gui
