#include "gui/pages/shared/legend.h"

#include <QPainter>
#include <QStringList>
#include <utility>

namespace plumbline::gui {
namespace {

constexpr int box = 12;
constexpr int box_gap = 5;
constexpr int entry_gap = 16;
constexpr int line_gap = 4;

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void Legend::show_entries(std::vector<LegendEntry> entries) {
  entries_ = std::move(entries);
  QStringList words;
  for (const LegendEntry& entry : entries_) words.append(entry.words);
  setAccessibleName(tr("Colours: %1").arg(words.join(QStringLiteral(", "))));
  updateGeometry();
  update();
}

std::vector<QRect> Legend::places(int width) const {
  std::vector<QRect> result;
  const int line = std::max(box, fontMetrics().height()) + line_gap;
  int x = 0;
  int y = 0;
  for (const LegendEntry& entry : entries_) {
    const int needed = box + box_gap + fontMetrics().horizontalAdvance(entry.words);
    if (x > 0 && x + needed > width) {
      x = 0;
      y += line;
    }
    result.emplace_back(x, y, needed, line - line_gap);
    x += needed + entry_gap;
  }
  return result;
}

int Legend::heightForWidth(int width) const {
  const std::vector<QRect> all = places(width);
  return all.empty() ? 0 : all.back().bottom() + 1;
}

QSize Legend::sizeHint() const { return {320, heightForWidth(std::max(320, width()))}; }
QSize Legend::minimumSizeHint() const { return {80, heightForWidth(std::max(80, width()))}; }

void Legend::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  const std::vector<QRect> all = places(width());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const QRect& place = all[i];
    const int top = place.top() + (place.height() - box) / 2;
    painter.fillRect(place.left(), top, box, box, entries_[i].colour(palette));
    painter.setPen(palette.faint);
    painter.drawText(place.adjusted(box + box_gap, 0, 1, 0), Qt::AlignVCenter, entries_[i].words);
  }
}

}  // namespace plumbline::gui
