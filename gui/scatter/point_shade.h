#pragma once
/// \file point_shade.h: what the colour of a point says, and the scale that tells what it means.
///
/// Model: whether a plan is within the noise of the best, or a figure on a scale of colours from the least value to the
/// largest, in steps: points of one step share one picture of a point.
/// Checked against: tests/gui/scatter/point_shade_test.cpp.

#include <QColor>
#include <QString>
#include <cstdint>
#include <vector>

#include "gui/palette.h"
#include "gui/scatter/scatter_picture.h"

namespace plumbline::gui {

enum class Shade : std::uint8_t { noise, cost, devices };

class PointShade {
 public:
  static constexpr int steps = 16;

  PointShade() = default;
  /// Where no point has the figure, the noise is what colours say.
  PointShade(Shade shade, const ScatterPicture& picture);

  [[nodiscard]] Shade shade() const { return shade_; }
  /// How many colours there are, painted in this order: what matters most on top.
  [[nodiscard]] int count() const { return shade_ == Shade::noise ? 2 : steps; }
  /// Which of them a point has.
  [[nodiscard]] int index_of(const ScatterPoint& point) const;
  [[nodiscard]] QColor colour(int index, const Palette& palette) const;
  /// "cost of the run" and its ends, "$1 200" and "$3 400"; empty where colours say the noise.
  [[nodiscard]] const QString& title() const { return title_; }
  [[nodiscard]] QString least_words() const { return words(least_); }
  [[nodiscard]] QString most_words() const { return words(most_); }

 private:
  [[nodiscard]] double value(const ScatterPoint& point) const;
  [[nodiscard]] QString words(double value) const;

  Shade shade_ = Shade::noise;
  QString title_;
  double least_ = 0, most_ = 0;
};

}  // namespace plumbline::gui
