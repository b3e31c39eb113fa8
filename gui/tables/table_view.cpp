#include "gui/tables/table_view.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>

#include "gui/tables/column_room.h"
#include "gui/tables/row_painter.h"
#include "gui/tables/table_model.h"
#include "gui/text.h"

namespace plumbline::gui {

TableView::TableView(TableModel& model, const QString& name, QWidget* parent) : QTableView(parent), model_(&model) {
  setModel(model_);
  setAccessibleName(name);
  setItemDelegate(new RowPainter(this));
  setSelectionBehavior(SelectRows);
  setSelectionMode(ExtendedSelection);
  setSortingEnabled(true);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  horizontalHeader()->setSortIndicatorClearable(true);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(28);
  horizontalHeader()->setSectionsMovable(true);
  horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 9);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setMouseTracking(true);
  setFrameShape(NoFrame);
  connect(horizontalHeader(), &QHeaderView::customContextMenuRequested, this,
          [this](const QPoint& at) { show_column_menu(horizontalHeader()->mapToGlobal(at)); });
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { Q_EMIT chosen(chosen_rows()); });
  connect(model_, &TableModel::table_changed, this, &TableView::measure_columns);
  connect(model_, &TableModel::modelReset, this, [this] { set_hovered_row(-1); });
}

void TableView::measure_columns() {
  constexpr int room = 10, widest = 360;
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics titles(bold);
  place_saved_columns();
  widths_.clear();
  for (int column = 0; column < model_->columnCount(); ++column) {
    const QString title = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    widths_.push_back(std::min(widest, std::max(sizeHintForColumn(column), titles.horizontalAdvance(title)) + room));
  }
  fit_columns();
}

void TableView::fit_columns() {
  constexpr int least_words = 80, readable_words = 130;  // columns that say less leave before words are cut below that
  const present::Table& table = model_->table();
  if (widths_.empty() || widths_.size() != table.columns.size()) return;
  int room = viewport()->width();
  if (!is_chosen_by_hand_) {
    std::vector<int> needed = widths_;
    if (table.columns.back().align == present::Align::left) needed.back() = std::min(needed.back(), readable_words);
    const ColumnsLeft left = columns_without_room(table, needed, room);
    for (int column = 0; column < model_->columnCount(); ++column)
      setColumnHidden(column, std::find(left.columns.begin(), left.columns.end(), column) != left.columns.end());
    room_words_ = qt(gui::room_words(left));
  }
  int last = -1;
  for (int column = 0; column < model_->columnCount(); ++column) {
    if (isColumnHidden(column)) continue;
    setColumnWidth(column, widths_[static_cast<std::size_t>(column)]);
    room -= columnWidth(column);
    last = column;
  }
  if (last >= 0 && room < 0 && table.columns[static_cast<std::size_t>(last)].align == present::Align::left) {
    const int before = columnWidth(last);
    setColumnWidth(last, std::max(std::min(least_words, before), before + room));
    room += before - columnWidth(last);
  }
  cut_words(room);
  Q_EMIT room_changed();
}

/// Of columns of words the widest give way.
void TableView::cut_words(int room) {
  const present::Table& table = model_->table();
  while (room < 0) {
    int widest = -1;
    for (int column = 0; column < model_->columnCount(); ++column) {
      const bool is_words = table.columns[static_cast<std::size_t>(column)].unit == present::Unit::text;
      if (is_words && !isColumnHidden(column) && (widest < 0 || columnWidth(column) > columnWidth(widest)))
        widest = column;
    }
    constexpr int least_words = 60;
    if (widest < 0 || columnWidth(widest) <= least_words) return;
    setColumnWidth(widest, columnWidth(widest) - 1);
    ++room;
  }
}

void TableView::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_columns();
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
  // Not selectRow(), which adds to what is selected while somebody happens to hold Shift or Ctrl.
  using Flag = QItemSelectionModel::SelectionFlag;
  const int column = std::max(0, horizontalHeader()->logicalIndexAt(0));
  selectionModel()->setCurrentIndex(model_->index(place, column), Flag::ClearAndSelect | Flag::Rows);
  scrollTo(model_->index(place, column));
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

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_S || event->modifiers() != Qt::NoModifier || !currentIndex().isValid())
    return QTableView::keyPressEvent(event);
  const int column = currentIndex().column();
  const bool is_sorted = horizontalHeader()->sortIndicatorSection() == column &&
                         horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder;
  sortByColumn(column, is_sorted ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
  const bool is_by_key = event->reason() == QContextMenuEvent::Keyboard;
  const QModelIndex at = is_by_key ? currentIndex() : indexAt(viewport()->mapFromGlobal(event->globalPos()));
  if (!row_menu_ || !at.isValid()) return show_column_menu(event->globalPos());
  QMenu menu(this);
  row_menu_(menu, model_->row_of(at.row()));
  menu.addSeparator();
  fill_column_menu(*menu.addMenu(tr("Co&lumns")));
  menu.exec(is_by_key ? viewport()->mapToGlobal(visualRect(at).bottomLeft()) : event->globalPos());
}

void TableView::show_column_menu(const QPoint& global) {
  QMenu menu(this);
  fill_column_menu(menu);
  menu.exec(global);
}

QByteArray TableView::saved_columns() const {
  const QHeaderView& header = *horizontalHeader();
  // What an earlier start saved still waits for a table: it stays as it is.
  if (header.count() == 0 || !saved_order_.isEmpty()) return {};
  if (!is_chosen_by_hand_ && !header.sectionsMoved()) return {};
  QStringList order, hidden;
  for (int place = 0; place < header.count(); ++place) {
    const int column = header.logicalIndex(place);
    const QString id = qt(model_->table().columns[static_cast<std::size_t>(column)].id);
    order.append(id);
    if (is_chosen_by_hand_ && isColumnHidden(column)) hidden.append(id);
  }
  return (order.join(',') + ';' + (is_chosen_by_hand_ ? hidden.join(',') : QString("-"))).toUtf8();
}

void TableView::restore_columns(const QByteArray& saved) {
  const QStringList parts = QString::fromUtf8(saved).split(';');
  if (parts.size() != 2) return;
  saved_order_ = parts[0].split(',', Qt::SkipEmptyParts);
  is_chosen_by_hand_ = parts[1] != "-";
  saved_hidden_ = is_chosen_by_hand_ ? parts[1].split(',', Qt::SkipEmptyParts) : QStringList();
  measure_columns();
}

int TableView::column_of(const QString& id) const {
  for (int column = 0; column < model_->columnCount(); ++column)
    if (qt(model_->table().columns[static_cast<std::size_t>(column)].id) == id) return column;
  return -1;
}

/// Applies the saved order to the first table that has columns; columns that were not saved keep their places.
void TableView::place_saved_columns() {
  if (saved_order_.isEmpty() || model_->columnCount() == 0) return;
  int place = 0;
  for (const QString& id : std::exchange(saved_order_, {}))
    if (const int column = column_of(id); column >= 0)
      horizontalHeader()->moveSection(horizontalHeader()->visualIndex(column), place++);
  for (const QString& id : std::exchange(saved_hidden_, {}))
    if (const int column = column_of(id); column >= 0) setColumnHidden(column, true);
}

void TableView::fill_column_menu(QMenu& menu) {
  for (int column = 0; column < model_->columnCount(); ++column) {
    QAction* const action = menu.addAction(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    action->setCheckable(true);
    action->setChecked(!isColumnHidden(column));
    action->setToolTip(model_->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString());
    connect(action, &QAction::toggled, this, [this, column](bool is_shown) {
      is_chosen_by_hand_ = true;
      room_words_.clear();
      setColumnHidden(column, !is_shown);
      fit_columns();
    });
  }
}

}  // namespace plumbline::gui
