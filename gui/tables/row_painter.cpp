#include "gui/tables/row_painter.h"

#include <QPainter>
#include <QWidget>

#include "gui/palette.h"
#include "gui/tables/table_model.h"

namespace plumbline::gui {

void RowPainter::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  constexpr float tied_tint = 0.08F, hovered_tint = 0.16F;
  QColor tint = palette_of(*option.widget).accent;
  if (index.row() == hovered_) {
    tint.setAlphaF(hovered_tint);
    painter->fillRect(option.rect, tint);
  } else if (index.data(TableModel::tied_role).toBool()) {
    tint.setAlphaF(tied_tint);
    painter->fillRect(option.rect, tint);
  }
  QStyleOptionViewItem cell = option;
  cell.rect.adjust(0, 0, -3, 0);          // a number does not touch the word behind it
  cell.state &= ~QStyle::State_HasFocus;  // the row is chosen, not a cell
  if (index.data(TableModel::faint_role).toBool())
    cell.palette.setColor(QPalette::Text, palette_of(*option.widget).faint);
  QStyledItemDelegate::paint(painter, cell, index);
}

}  // namespace plumbline::gui
