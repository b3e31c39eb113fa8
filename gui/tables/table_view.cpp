#include "gui/tables/table_view.h"

#include <QAction>
#include <QHeaderView>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>

#include "gui/tables/row_painter.h"
#include "gui/tables/table_model.h"

namespace plumbline::gui {

TableView::TableView(TableModel& model, QWidget* parent) : QTableView(parent), model_(&model) {
  setModel(model_);
  setItemDelegate(new RowPainter(this));
  setSelectionBehavior(SelectRows);
  setSelectionMode(ExtendedSelection);
  setSortingEnabled(true);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  horizontalHeader()->setSortIndicatorClearable(true);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(28);
  horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 9);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setMouseTracking(true);
  setFrameShape(NoFrame);
  connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this, &TableView::show_column_menu);
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { Q_EMIT chosen(chosen_rows()); });
  connect(model_, &TableModel::modelReset, this, [this] { set_hovered_row(-1); });
}

void TableView::fit_columns() {
  constexpr int room = 10, widest = 360;
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics titles(bold);
  for (int column = 0; column < model_->columnCount(); ++column) {
    const QString title = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    setColumnWidth(column,
                   std::min(widest, std::max(sizeHintForColumn(column), titles.horizontalAdvance(title)) + room));
  }
}

std::vector<int> TableView::chosen_rows() const {
  std::vector<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedRows()) rows.push_back(model_->row_of(index.row()));
  std::sort(rows.begin(), rows.end());
  return rows;
}

void TableView::choose_row(int row) {
  const int place = model_->place_of(row);
  if (place < 0) return;
  selectRow(place);
  scrollTo(model_->index(place, 0));
}

void TableView::set_hovered_row(int row) {
  if (row == hovered_) return;
  hovered_ = row;
  static_cast<RowPainter*>(itemDelegate())->set_hovered(row < 0 ? -1 : model_->place_of(row));
  viewport()->update();
}

void TableView::mouseMoveEvent(QMouseEvent* event) {
  QTableView::mouseMoveEvent(event);
  const QModelIndex at = indexAt(event->pos());
  const int row = at.isValid() ? model_->row_of(at.row()) : -1;
  if (row == hovered_) return;
  set_hovered_row(row);
  Q_EMIT hovered(row);
}

void TableView::leaveEvent(QEvent* event) {
  QTableView::leaveEvent(event);
  set_hovered_row(-1);
  Q_EMIT hovered(-1);
}

void TableView::show_column_menu(const QPoint& at) {
  QMenu menu(this);
  for (int column = 0; column < model_->columnCount(); ++column) {
    QAction* const action = menu.addAction(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    action->setCheckable(true);
    action->setChecked(!isColumnHidden(column));
    action->setToolTip(model_->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
    connect(action, &QAction::toggled, this, [this, column](bool is_shown) { setColumnHidden(column, !is_shown); });
  }
  menu.exec(horizontalHeader()->mapToGlobal(at));
}

}  // namespace plumbline::gui
