#include "gui/pages/graph/graph_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <utility>

#include "core/quantity/text.h"
#include "gui/widgets/focus_frame.h"

namespace plumbline::gui {
namespace {

constexpr double node_width = 216;
constexpr double node_height = 54;
constexpr double across_gap = 14;
constexpr double down_gap = 16;
constexpr double graph_margin = 12;
constexpr double beside_room = 4;  ///< for what goes round the widest layer
constexpr double bar_height = 4;

}  // namespace

GraphView::GraphView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Operators of the block"));
}

void GraphView::show_picture(BlockPicture picture) {
  picture_ = std::move(picture);
  flops_ = 0;
  for (const GraphNode& node : picture_.nodes) flops_ += node.forward.value();
  node_ = 0;
  updateGeometry();
  resize(sizeHint());
  update();
}

void GraphView::choose(std::size_t node) {
  if (node >= picture_.nodes.size()) return;
  node_ = node;
  setAccessibleDescription(QString::fromStdString(picture_.nodes[node].name));
  update();
  Q_EMIT node_chosen(node);
}

QSize GraphView::sizeHint() const {
  const double wide = picture_.widest * (node_width + across_gap) - across_gap + 2 * graph_margin + beside_room;
  const double high = picture_.layers * (node_height + down_gap) - down_gap + 2 * graph_margin;
  return {static_cast<int>(std::max(wide, node_width)), static_cast<int>(std::max(high, node_height))};
}

QRectF GraphView::area_of(std::size_t node) const {
  const GraphNode& of = picture_.nodes[node];
  const auto in_layer = std::count_if(picture_.nodes.begin(), picture_.nodes.end(),
                                      [&](const GraphNode& other) { return other.layer == of.layer; });
  const double row = static_cast<double>(in_layer) * (node_width + across_gap) - across_gap;
  return {(width() - row) / 2 + of.place * (node_width + across_gap),
          graph_margin + of.layer * (node_height + down_gap), node_width, node_height};
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  for (std::size_t node = 0; node < picture_.nodes.size(); ++node)
    if (area_of(node).contains(event->position())) return choose(node);
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Up: return choose(node_ > 0 ? node_ - 1 : 0);
    case Qt::Key_Down: return choose(node_ + 1);
    default: QWidget::keyPressEvent(event);
  }
}

void GraphView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& palette = palette_of(*this);
  painter.fillRect(rect(), palette.card);
  if (picture_.nodes.empty()) return;
  paint_edges(painter, palette);
  for (std::size_t node = 0; node < picture_.nodes.size(); ++node) paint_node(painter, node, palette);
  paint_focus_frame(painter, *this);
}

double GraphView::beside_between(const GraphEdge& edge) const {
  double right = 0;
  for (std::size_t node = 0; node < picture_.nodes.size(); ++node) {
    const int layer = picture_.nodes[node].layer;
    if (layer > picture_.nodes[edge.from].layer && layer < picture_.nodes[edge.to].layer)
      right = std::max(right, area_of(node).right() + graph_margin);
  }
  return right;
}

void GraphView::paint_edges(QPainter& painter, const Palette& palette) const {
  painter.setBrush(Qt::NoBrush);
  for (const GraphEdge& edge : picture_.edges) {
    const QRectF from = area_of(edge.from);
    const QRectF to = area_of(edge.to);
    const bool is_chosen = edge.from == node_ || edge.to == node_;
    painter.setPen(QPen(is_chosen ? palette.accent : palette.border, is_chosen ? 2 : 1.2));
    const QPointF start(from.center().x(), from.bottom());
    const QPointF end(to.center().x(), to.top());
    QPainterPath path(start);
    const double beside = beside_between(edge);
    if (beside > 0) {
      // What skips layers goes round them.
      path.cubicTo({start.x(), start.y() + down_gap}, {beside, start.y()}, {beside, start.y() + down_gap});
      path.lineTo(beside, end.y() - down_gap);
      path.cubicTo({beside, end.y()}, {end.x(), end.y() - down_gap}, end);
    } else {
      const double middle = (start.y() + end.y()) / 2;
      path.cubicTo({start.x(), middle}, {end.x(), middle}, end);
    }
    painter.drawPath(path);
  }
}

void GraphView::paint_node(QPainter& painter, std::size_t node, const Palette& palette) const {
  const GraphNode& of = picture_.nodes[node];
  const QRectF area = area_of(node);
  const bool is_chosen = node == node_;
  painter.setPen(QPen(is_chosen ? palette.accent : palette.border, is_chosen ? 2 : 1));
  painter.setBrush(palette.field);
  painter.drawRoundedRect(area, 4, 4);
  const QRectF room = area.adjusted(8, 3, -8, -1 - bar_height);
  const QFontMetricsF metrics(painter.font());
  const auto write = [&](Qt::Alignment at, const std::string& words) {
    painter.drawText(room, static_cast<int>(Qt::AlignLeft | at),
                     metrics.elidedText(QString::fromStdString(words), Qt::ElideRight, room.width()));
  };
  painter.setPen(palette.text);
  write(Qt::AlignTop, of.name);
  painter.setPen(palette.faint);
  const Flops work = of.forward;
  write(Qt::AlignVCenter, (work.value() > 0 ? to_text(work) : of.kind) + ", writes " + to_text(of.written));
  write(Qt::AlignBottom, of.sharding);
  if (flops_ <= 0) return;
  const QRectF bar(area.left() + 1, area.bottom() - bar_height, (area.width() - 2) * work.value() / flops_,
                   bar_height - 1);
  painter.fillRect(bar, palette.of(Activity::forward));
}

}  // namespace plumbline::gui
