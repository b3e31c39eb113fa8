#include "gui/tables/table_model.h"

#include <QFont>
#include <algorithm>
#include <numeric>
#include <utility>

#include "gui/tables/row_filter.h"
#include "gui/text.h"

namespace plumbline::gui {
namespace {

/// Numbers before words, and both by themselves.
bool is_less(const present::Cell& one, const present::Cell& other) {
  if (one.number && other.number) return *one.number < *other.number;
  if (one.number.has_value() != other.number.has_value()) return one.number.has_value();
  return one.text < other.text;
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
}

void TableModel::set_filter(const QString& words) {
  filter_ = words.split(' ', Qt::SkipEmptyParts);
  beginResetModel();
  order_ = chosen_order();
  endResetModel();
}

QString TableModel::empty_words() const {
  if (!order_.empty()) return {};
  return table_.rows.empty() ? tr("no rows")
                             : tr("none of %1 rows holds \"%2\"").arg(table_.rows.size()).arg(filter_.join(' '));
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
    case Qt::UserRole: return is_marked(marks_.tied, row);
    default: return {};
  }
}

QVariant TableModel::tip(const QModelIndex& index) const {
  const auto row = static_cast<std::size_t>(row_of(index.row()));
  if (row < marks_.tip.size() && !marks_.tip[row].isEmpty()) return marks_.tip[row];
  return qt(table_.columns[static_cast<std::size_t>(index.column())].explanation);
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
  const auto cell = [&](int row) -> const present::Cell& { return table_.rows[static_cast<std::size_t>(row)][column]; };
  std::stable_sort(order.begin(), order.end(), [&](int one, int other) {
    return sort_order_ == Qt::AscendingOrder ? is_less(cell(one), cell(other)) : is_less(cell(other), cell(one));
  });
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
