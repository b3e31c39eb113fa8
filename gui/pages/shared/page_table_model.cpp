#include "gui/pages/shared/page_table_model.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace plumbline::gui {
namespace {

bool is_before(const present::Cell& a, const present::Cell& b) {
  if (a.number && b.number) return *a.number < *b.number;
  return a.text < b.text;
}
int alignment_of(const present::Column& column) {
  const Qt::Alignment across = column.align == present::Align::left ? Qt::AlignLeft : Qt::AlignRight;
  return static_cast<int>((Qt::AlignVCenter | across).toInt());
}
bool is_blank(const present::Cell& cell) { return cell.text.empty() && !cell.number; }

}  // namespace

void PageTableModel::show(present::Table table) {
  beginResetModel();
  table_ = std::move(table);
  order_.resize(table_.rows.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  endResetModel();
}

int PageTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int PageTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

const present::Cell& PageTableModel::cell(std::size_t line, int column) const {
  return table_.rows[order_[line]][static_cast<std::size_t>(column)];
}

QVariant PageTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const present::Column& column = table_.columns[static_cast<std::size_t>(index.column())];
  const present::Cell& shown = cell(static_cast<std::size_t>(index.row()), index.column());
  switch (role) {
    case Qt::DisplayRole: return QString::fromStdString(shown.text);
    case Qt::ToolTipRole:
      return QString::fromStdString(column.align == present::Align::left ? shown.text : column.explanation);
    case Qt::TextAlignmentRole: return alignment_of(column);
    case Qt::DecorationRole: {
      const QColor colour = colour_ && index.column() == 0 ? colour_(row_at(index.row())) : QColor();
      return colour.isValid() ? QVariant(colour) : QVariant();
    }
    default: return {};
  }
}

QVariant PageTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const present::Column& column = table_.columns[static_cast<std::size_t>(section)];
  switch (role) {
    case Qt::DisplayRole: return QString::fromStdString(column.title);
    case Qt::ToolTipRole: return QString::fromStdString(column.explanation);
    case Qt::TextAlignmentRole: return alignment_of(column);
    default: return {};
  }
}

void PageTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  Q_EMIT layoutAboutToBeChanged({}, VerticalSortHint);
  const std::vector<std::size_t> before = order_;
  const auto c = static_cast<std::size_t>(column);
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const present::Cell& one = table_.rows[a][c];
    const present::Cell& other = table_.rows[b][c];
    if (is_blank(one) != is_blank(other)) return is_blank(other);
    return order == Qt::AscendingOrder ? is_before(one, other) : is_before(other, one);
  });
  std::vector<int> line_of(order_.size());
  for (std::size_t line = 0; line < order_.size(); ++line) line_of[order_[line]] = static_cast<int>(line);
  const QModelIndexList persistent = persistentIndexList();
  for (const QModelIndex& index : persistent)
    changePersistentIndex(index, createIndex(line_of[before[static_cast<std::size_t>(index.row())]], index.column()));
  Q_EMIT layoutChanged({}, VerticalSortHint);
}

}  // namespace plumbline::gui
