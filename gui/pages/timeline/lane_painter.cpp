#include "gui/pages/timeline/lane_painter.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace plumbline::gui {
namespace {

constexpr double widest_without_edge = 3;  ///< pixels
constexpr double label_margin = 4;
constexpr std::int32_t most_numbers = 4096;

/// The activities from the bottom of a lane to its top.
constexpr std::array stacked{Activity::forward,   Activity::backward,      Activity::weight, Activity::recompute,
                             Activity::optimizer, Activity::communication, Activity::offload};

struct Strip {
  QRgb* top;
  std::ptrdiff_t stride;  ///< to the pixel below
  int height;
};

/// The pixels of one column, from the bottom.
void fill_column(const Strip& strip, const ColumnShares& shares,
                 const std::array<QRgb, all_activities.size()>& colours) {
  int filled = 0;
  float sum = 0;
  for (const Activity activity : stacked) {
    const auto index = static_cast<std::size_t>(activity);
    if (shares[index] <= 0) continue;
    sum += shares[index];
    const int upto = std::min(strip.height, static_cast<int>(std::lround(sum * static_cast<float>(strip.height))));
    for (; filled < upto; ++filled) strip.top[(strip.height - 1 - filled) * strip.stride] = colours[index];
  }
  const QRgb idle = colours[static_cast<std::size_t>(Activity::idle)];
  for (; filled < strip.height; ++filled) strip.top[(strip.height - 1 - filled) * strip.stride] = idle;
}

}  // namespace

void LanePainter::begin(QSize size, qreal pixel_ratio, const QColor& background) {
  const QSize pixels(static_cast<int>(std::ceil(size.width() * pixel_ratio)),
                     static_cast<int>(std::ceil(size.height() * pixel_ratio)));
  if (image_.size() != pixels) image_ = QImage(pixels, QImage::Format_RGB32);
  image_.setDevicePixelRatio(pixel_ratio);
  ratio_ = pixel_ratio;
  image_.fill(background);
}

void LanePainter::add_columns(const std::function<void(std::vector<ColumnShares>&)>& fill, const QRectF& area,
                              const Palette& palette) {
  const int left = std::max(0, static_cast<int>(std::lround(area.left() * ratio_)));
  const int right = std::min(image_.width(), static_cast<int>(std::lround(area.right() * ratio_)));
  const int top = std::max(0, static_cast<int>(std::lround(area.top() * ratio_)));
  const int bottom = std::min(image_.height(), static_cast<int>(std::lround(area.bottom() * ratio_)));
  if (right <= left || bottom <= top) return;
  shares_.resize(static_cast<std::size_t>(right - left));
  fill(shares_);
  std::array<QRgb, all_activities.size()> colours{};
  for (const Activity activity : all_activities)
    colours[static_cast<std::size_t>(activity)] = palette.of(activity).rgb();
  auto* line = reinterpret_cast<QRgb*>(image_.scanLine(top));
  const std::ptrdiff_t stride = image_.bytesPerLine() / static_cast<std::ptrdiff_t>(sizeof(QRgb));
  for (int column = left; column < right; ++column)
    fill_column({line + column, stride, bottom - top}, shares_[static_cast<std::size_t>(column - left)], colours);
}

void LanePainter::draw_boxes(QPainter& painter, const Lane& lane, const QRectF& area, const TimeWindow& window,
                             const Palette& palette) {
  if (shows_bins(lane, window, static_cast<std::size_t>(std::max(0., area.width() * ratio_)))) return;
  const double scale = area.width() / window.length();
  const QFontMetricsF metrics(painter.font());
  const double digit = metrics.horizontalAdvance('0');
  const bool has_room = metrics.height() <= area.height() + 1;
  const double baseline = area.top() + (area.height() - metrics.height()) / 2;
  std::vector<QLineF> edges;
  for (std::size_t i = first_after(lane, window.begin()); i < lane.segments.size(); ++i) {
    const Segment& segment = lane.segments[i];
    const double left = area.left() + (static_cast<double>(segment.span.start.value()) - window.begin()) * scale;
    if (left >= area.right()) break;
    const double width = static_cast<double>(segment.span.length().value()) * scale;
    if (width < widest_without_edge) continue;
    if (left + width < area.right()) edges.emplace_back(left + width, area.top(), left + width, area.bottom());
    const bool is_named = has_room && segment.micro_batch >= 0 && segment.activity != Activity::communication;
    if (!is_named) continue;
    const double text = digit * static_cast<double>(std::to_string(segment.micro_batch).size());
    const double from = std::max(left, area.left());
    const double room = std::min(left + width, area.right()) - from;
    if (text + label_margin > room) continue;
    painter.setPen(text_on(palette.of(segment.activity)));
    painter.drawStaticText(QPointF(from + (room - text) / 2, baseline), number(segment.micro_batch, painter.font()));
  }
  painter.setPen(QPen(palette.card, 1));
  painter.drawLines(edges.data(), static_cast<int>(edges.size()));
}

const QStaticText& LanePainter::number(std::int32_t value, const QFont& font) {
  if (font != font_) numbers_.clear();
  font_ = font;
  const auto index = static_cast<std::size_t>(value % most_numbers);
  if (index >= numbers_.size()) numbers_.resize(index + 1);
  QStaticText& text = numbers_[index];
  const QString words = QString::number(value);
  if (text.text() != words) {
    text.setText(words);
    text.setTextFormat(Qt::PlainText);
    text.prepare(QTransform(), font);
  }
  return text;
}

}  // namespace plumbline::gui
