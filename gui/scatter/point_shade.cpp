#include "gui/scatter/point_shade.h"

#include <QObject>
#include <algorithm>

#include "gui/text.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {

PointShade::PointShade(Shade shade, const ScatterPicture& picture) : shade_(shade) {
  if (shade_ == Shade::noise) return;
  bool is_first = true;
  for (const ScatterPoint& point : picture.points) {
    if (value(point) <= 0) continue;
    least_ = is_first ? value(point) : std::min(least_, value(point));
    most_ = is_first ? value(point) : std::max(most_, value(point));
    is_first = false;
  }
  if (is_first) shade_ = Shade::noise;
  if (shade_ == Shade::cost) title_ = QObject::tr("cost of %1").arg(picture.cost_of);
  if (shade_ == Shade::devices) title_ = QObject::tr("GPUs");
}

double PointShade::value(const ScatterPoint& point) const {
  return shade_ == Shade::cost ? point.cost : static_cast<double>(point.devices);
}

int PointShade::index_of(const ScatterPoint& point) const {
  if (shade_ == Shade::noise) return point.is_tied ? 1 : 0;
  if (most_ <= least_) return 0;
  const double share = (value(point) - least_) / (most_ - least_);
  // The least is painted last, on top.
  return steps - 1 - std::clamp(static_cast<int>(share * steps), 0, steps - 1);
}

QColor PointShade::colour(int index, const Palette& palette) const {
  if (shade_ != Shade::noise) return palette.sequential(1 - static_cast<double>(index) / (steps - 1));
  return index == 1 ? palette.accent : palette.other;
}

QString PointShade::words(double value) const {
  constexpr double cents_up_to = 100;
  if (shade_ == Shade::devices) return QString::number(value);
  return value < cents_up_to ? "$" + QString::number(value, 'f', 2) : qt(present::dollars_text(value));
}

}  // namespace plumbline::gui
