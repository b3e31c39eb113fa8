#pragma once
/// \file graph_view.h: a block as a layered picture, from its inputs at the top to its outputs.
///
/// A node's bar is its share of the block's FLOPs. Click, Up and Down: the node.

#include <QWidget>
#include <vector>

#include "gui/pages/graph/block_picture.h"
#include "gui/palette.h"

namespace plumbline::gui {

class GraphView : public QWidget {
  Q_OBJECT

 public:
  explicit GraphView(QWidget* parent = nullptr);
  void show_picture(BlockPicture picture);
  [[nodiscard]] const BlockPicture& shown() const { return picture_; }
  /// An index of its nodes.
  void choose(std::size_t node);
  [[nodiscard]] std::size_t node() const { return node_; }
  [[nodiscard]] QRectF area_of(std::size_t node) const;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void node_chosen(std::size_t node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Where an edge passes the layers that it skips; 0: it skips none.
  [[nodiscard]] double beside_between(const GraphEdge& edge) const;
  void paint_edges(QPainter& painter, const Palette& palette) const;
  void paint_node(QPainter& painter, std::size_t node, const Palette& palette) const;

  BlockPicture picture_;
  double flops_ = 0;  ///< forward, of all nodes
  std::size_t node_ = 0;
};

}  // namespace plumbline::gui
