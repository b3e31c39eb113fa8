#include "gui/pages/memory/treemap.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "core/quantity/text.h"
#include "gui/pages/memory/treemap_layout.h"
#include "gui/widgets/focus_frame.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr double text_margin = 4;
constexpr double least_letters = 6;

QString class_name(MemoryClass memory_class) {
  return QString::fromStdString(present::words_of(to_text(memory_class)));
}

}  // namespace

Treemap::Treemap(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 120);
  setAccessibleName(tr("Memory of the chosen stage at its peak, by class and layer"));
}

void Treemap::show_tree(std::vector<MemoryBranch> tree) {
  tree_ = std::move(tree);
  std::stable_sort(tree_.begin(), tree_.end(),
                   [](const MemoryBranch& a, const MemoryBranch& b) { return a.bytes > b.bytes; });
  QStringList words;
  for (const MemoryBranch& branch : tree_)
    words.append(QString::fromStdString(present::words_of(to_text(branch.memory_class))) + ' ' +
                 QString::fromStdString(to_text(branch.bytes)));
  setAccessibleDescription(words.join("; "));
  lay_out();
  mark(-1);
}

void Treemap::lay_out() {
  places_.clear();
  titles_.clear();
  std::vector<double> sizes;
  for (const MemoryBranch& branch : tree_) sizes.push_back(static_cast<double>(branch.bytes.value()));
  branches_ = squarified(sizes, QRectF(rect()));
  for (std::size_t b = 0; b < tree_.size(); ++b) {
    std::vector<double> parts;
    for (const MemoryLeaf& leaf : tree_[b].leaves) parts.push_back(static_cast<double>(leaf.bytes.value()));
    QRectF room = branches_[b].adjusted(1, 1, -1, -1);
    place_title(b, room);
    const std::vector<QRectF> areas = squarified(parts, room);
    for (std::size_t leaf = 0; leaf < areas.size(); ++leaf) places_.push_back({areas[leaf], b, leaf});
  }
  update();
}

void Treemap::place_title(std::size_t branch, QRectF& room) {
  constexpr double least_lines = 4;
  const QFontMetricsF metrics(font());
  const bool is_wide_enough =
      metrics.horizontalAdvance(class_name(tree_[branch].memory_class)) + 2 * text_margin <= room.width();
  if (tree_[branch].leaves.size() < 2 || room.height() < least_lines * metrics.height() || !is_wide_enough) return;
  const double strip = metrics.height() + 3;
  titles_.push_back({QRectF(room.left(), room.top(), room.width(), strip), branch});
  room.setTop(room.top() + strip);
}

bool Treemap::has_title(std::size_t branch) const {
  return std::any_of(titles_.begin(), titles_.end(), [&](const Title& title) { return title.branch == branch; });
}

void Treemap::mark(int place) {
  if (place == marked_ && place >= 0) return;
  marked_ = place;
  update();
  Q_EMIT marked(marked_words());
}

QString Treemap::marked_words() const { return words_of_place(marked_); }

QString Treemap::words_of_place(int place) const {
  if (place < 0 || place >= static_cast<int>(places_.size())) return {};
  const Place& at = places_[static_cast<std::size_t>(place)];
  const MemoryBranch& branch = tree_[at.branch];
  const MemoryLeaf& leaf = branch.leaves[at.leaf];
  QString words = class_name(branch.memory_class);
  if (QString::fromStdString(leaf.name) != words) words += ", " + QString::fromStdString(leaf.name);
  words += ": " + QString::fromStdString(present::gib_text(leaf.bytes, 2)) + " GiB";
  return leaf.words.empty() ? words : words + ", " + QString::fromStdString(leaf.words);
}

int Treemap::place_at(QPointF position) const {
  const auto found =
      std::find_if(places_.begin(), places_.end(), [&](const Place& place) { return place.area.contains(position); });
  return found == places_.end() ? -1 : static_cast<int>(found - places_.begin());
}

void Treemap::resizeEvent(QResizeEvent* /*event*/) { lay_out(); }
void Treemap::mouseMoveEvent(QMouseEvent* event) { mark(place_at(event->position())); }
void Treemap::leaveEvent(QEvent* /*event*/) { mark(-1); }

void Treemap::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(places_.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left: return mark(std::max(0, marked_ - 1));
    case Qt::Key_Right: return mark(std::min(last, marked_ + 1));
    case Qt::Key_Home: return mark(0);
    case Qt::Key_End: return mark(last);
    default: QWidget::keyPressEvent(event);
  }
}

bool Treemap::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_of_place(place_at(help->pos())), this);
  return true;
}

void Treemap::paint_title(QPainter& painter, const Title& title, const Palette& palette) const {
  const MemoryBranch& branch = tree_[title.branch];
  const QColor colour = palette.of(branch.memory_class);
  painter.fillRect(title.area.adjusted(0.5, 0.5, -0.5, -0.5), colour);
  QFont bold = painter.font();
  bold.setBold(true);
  const QFontMetricsF metrics(bold);
  const QRectF room = title.area.adjusted(text_margin, 0, -text_margin, 0);
  const QString name = class_name(branch.memory_class);
  const QString whole = name + "  " + QString::fromStdString(present::gib_text(branch.bytes, 2)) + " GiB";
  painter.save();
  painter.setFont(bold);
  painter.setPen(text_on(colour));
  const bool fits = metrics.horizontalAdvance(whole) <= room.width();
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   fits ? whole : metrics.elidedText(name, Qt::ElideRight, room.width()));
  painter.restore();
}

void Treemap::paint_place(QPainter& painter, const Place& place, const Palette& palette) const {
  const MemoryBranch& branch = tree_[place.branch];
  const QColor colour = palette.of(branch.memory_class);
  painter.fillRect(place.area.adjusted(0.5, 0.5, -0.5, -0.5), colour);
  const QRectF room = place.area.adjusted(text_margin, 2, -text_margin, -2);
  const QFontMetricsF metrics(painter.font());
  if (room.height() < metrics.height() || room.width() < least_letters * metrics.averageCharWidth()) return;
  // Where the class has no title, its first part has its name, and no size, which would be the part's alone.
  const bool names_class = place.leaf == 0 && branch.leaves.size() > 1 && !has_title(place.branch);
  const QString words =
      names_class ? class_name(branch.memory_class) : QString::fromStdString(branch.leaves[place.leaf].name);
  painter.setPen(text_on(colour));
  painter.drawText(room, Qt::AlignLeft | Qt::AlignTop, metrics.elidedText(words, Qt::ElideRight, room.width()));
  if (names_class || room.height() < 2 * metrics.height()) return;
  const QString size = QString::fromStdString(present::gib_text(branch.leaves[place.leaf].bytes, 2)) + " GiB";
  if (metrics.horizontalAdvance(size) <= room.width())
    painter.drawText(room.adjusted(0, metrics.height(), 0, 0), Qt::AlignLeft | Qt::AlignTop, size);
}

void Treemap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  for (const Title& title : titles_) paint_title(painter, title, palette);
  for (const Place& place : places_) paint_place(painter, place, palette);
  if (marked_ >= 0) {
    painter.setPen(QPen(palette.text, 2));
    painter.drawRect(places_[static_cast<std::size_t>(marked_)].area.adjusted(1, 1, -1, -1));
  }
  paint_focus_frame(painter, *this);
}

}  // namespace plumbline::gui
