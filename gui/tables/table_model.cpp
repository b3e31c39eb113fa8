#include "gui/tables/table_model.h"

#include <QFont>
#include <algorithm>
#include <numeric>
#include <utility>

#include "gui/tables/row_filter.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

/// What a row is sorted by, apart from its table: of 100 000 rows a sort reads these alone.
struct SortKey {
  enum class Kind : std::uint8_t { number, words, blank };

  SortKey(const present::Cell& cell, int of)
      : kind(cell.number         ? Kind::number
             : cell.text.empty() ? Kind::blank
                                 : Kind::words),
        number(cell.number.value_or(0)),
        text(&cell.text),
        row(of) {}

  Kind kind;
  double number;
  const std::string* text;
  int row;
};

/// Numbers before words, and both by themselves.
bool is_less(const SortKey& one, const SortKey& other) {
  if (one.kind != other.kind) return one.kind < other.kind;
  return one.kind == SortKey::Kind::number ? one.number < other.number : *one.text < *other.text;
}

bool is_marked(const std::vector<char>& marks, int row) {
  return static_cast<std::size_t>(row) < marks.size() && marks[static_cast<std::size_t>(row)] != 0;
}

}  // namespace

void TableModel::set_table(present::Table table, RowMarks marks) {
  beginResetModel();
  const std::string sorted_id =
      sorted_by_ >= 0 && sorted_by_ < columnCount() ? table_.columns[static_cast<std::size_t>(sorted_by_)].id : "";
  table_ = std::move(table);
  marks_ = std::move(marks);
  const auto same = std::find_if(table_.columns.begin(), table_.columns.end(),
                                 [&](const present::Column& column) { return column.id == sorted_id; });
  sorted_by_ = same == table_.columns.end() ? -1 : static_cast<int>(same - table_.columns.begin());
  order_ = chosen_order();
  endResetModel();
  Q_EMIT table_changed();
}

void TableModel::set_filter(const QString& words) {
  filter_ = words.split(' ', Qt::SkipEmptyParts);
  beginResetModel();
  order_ = chosen_order();
  endResetModel();
}

int TableModel::place_of(int row) const {
  const auto at = std::find(order_.begin(), order_.end(), row);
  return at == order_.end() ? -1 : static_cast<int>(at - order_.begin());
}

present::Table TableModel::shown() const {
  present::Table table{table_.columns, {}};
  for (const int row : order_) table.rows.push_back(table_.rows[static_cast<std::size_t>(row)]);
  return table;
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const int row = row_of(index.row());
  const auto column = static_cast<std::size_t>(index.column());
  switch (role) {
    case Qt::DisplayRole: return qt(table_.rows[static_cast<std::size_t>(row)][column].text);
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(
          Qt::Alignment(Qt::AlignVCenter) |
          (table_.columns[column].align == present::Align::right ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ToolTipRole: return tip(index);
    case Qt::FontRole:
      if (is_marked(marks_.bold, row)) {
        QFont bold;
        bold.setBold(true);
        return bold;
      }
      return {};
    case Qt::DecorationRole: return colour(index);
    case tied_role: return is_marked(marks_.tied, row);
    case faint_role: return is_marked(marks_.faint, row);
    default: return {};
  }
}

QVariant TableModel::colour(const QModelIndex& index) const {
  if (!colour_ || index.column() != 0) return {};
  const QColor box = colour_(static_cast<std::size_t>(row_of(index.row())));
  return box.isValid() ? QVariant(box) : QVariant();
}

QVariant TableModel::tip(const QModelIndex& index) const {
  const auto row = static_cast<std::size_t>(row_of(index.row()));
  if (row < marks_.tip.size() && !marks_.tip[row].isEmpty()) return marks_.tip[row];
  const present::Column& column = table_.columns[static_cast<std::size_t>(index.column())];
  const std::string& text = table_.rows[row][static_cast<std::size_t>(index.column())].text;
  // Words may be longer than their column.
  return qt(column.align == present::Align::left && column.unit == present::Unit::text ? text : column.explanation);
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const present::Column& column = table_.columns[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return qt(column.title);
  if (role == Qt::ToolTipRole || role == Qt::AccessibleDescriptionRole) return qt(column.explanation);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::Alignment(Qt::AlignVCenter) |
                               (column.align == present::Align::right ? Qt::AlignRight : Qt::AlignLeft));
  return {};
}

void TableModel::sort(int column, Qt::SortOrder order) {
  sorted_by_ = column;
  sort_order_ = order;
  reorder();
}

bool TableModel::is_kept(const std::vector<present::Cell>& row) const {
  return std::all_of(filter_.begin(), filter_.end(), [&](const QString& word) { return holds(table_, row, word); });
}

std::vector<int> TableModel::chosen_order() const {
  std::vector<int> order;
  for (std::size_t i = 0; i < table_.rows.size(); ++i)
    if (is_kept(table_.rows[i])) order.push_back(static_cast<int>(i));
  if (sorted_by_ < 0) return order;
  const auto column = static_cast<std::size_t>(sorted_by_);
  std::vector<SortKey> keys;
  keys.reserve(order.size());
  for (const int row : order) keys.emplace_back(table_.rows[static_cast<std::size_t>(row)][column], row);
  const bool is_ascending = sort_order_ == Qt::AscendingOrder;
  std::stable_sort(keys.begin(), keys.end(), [is_ascending](const SortKey& one, const SortKey& other) {
    const bool is_blank = one.kind == SortKey::Kind::blank, is_other_blank = other.kind == SortKey::Kind::blank;
    if (is_blank || is_other_blank) return is_other_blank && !is_blank;  // blanks are last either way
    return is_ascending ? is_less(one, other) : is_less(other, one);
  });
  std::transform(keys.begin(), keys.end(), order.begin(), [](const SortKey& key) { return key.row; });
  return order;
}

void TableModel::reorder() {
  Q_EMIT layoutAboutToBeChanged();
  const std::vector<int> before = order_;
  order_ = chosen_order();
  const QModelIndexList kept = persistentIndexList();
  for (const QModelIndex& old : kept) {
    const int place = place_of(before[static_cast<std::size_t>(old.row())]);
    changePersistentIndex(old, place < 0 ? QModelIndex() : index(place, old.column()));
  }
  Q_EMIT layoutChanged();
}

}  // namespace plumbline::gui
