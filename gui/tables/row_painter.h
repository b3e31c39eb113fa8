#pragma once
/// \file row_painter.h: paints cells of a TableModel: tied rows tinted, the hovered row too.

#include <QStyledItemDelegate>

namespace plumbline::gui {

class RowPainter : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  /// A place in the view; -1: none.
  void set_hovered(int place) { hovered_ = place; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  int hovered_ = -1;
};

}  // namespace plumbline::gui
