#include "gui/tables/row_filter.h"

#include <QStringList>
#include <optional>

#include "gui/text.h"

namespace plumbline::gui {
namespace {

struct Comparison {
  QString title;
  QString relation;
  double number = 0;
};

std::optional<Comparison> comparison_in(const QString& word) {
  for (const char* const relation : {">=", "<=", ">", "<", "="}) {
    const qsizetype at = word.indexOf(QLatin1String(relation));
    if (at <= 0) continue;
    bool is_number = false;
    const qsizetype length = static_cast<qsizetype>(qstrlen(relation));
    const double number = word.mid(at + length).toDouble(&is_number);
    if (is_number) return Comparison{word.left(at), QString::fromLatin1(relation), number};
  }
  return std::nullopt;
}

bool is_so(double value, const Comparison& asked) {
  if (asked.relation == ">=") return value >= asked.number;
  if (asked.relation == "<=") return value <= asked.number;
  if (asked.relation == ">") return value > asked.number;
  if (asked.relation == "<") return value < asked.number;
  return value == asked.number;
}

bool is_titled(const present::Column& column, const QString& title) {
  return qt(column.title).compare(title, Qt::CaseInsensitive) == 0 ||
         qt(column.id).compare(title, Qt::CaseInsensitive) == 0;
}

}  // namespace

bool holds(const present::Table& table, const std::vector<present::Cell>& row, const QString& word) {
  if (const auto asked = comparison_in(word))
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (is_titled(table.columns[i], asked->title)) return row[i].number && is_so(*row[i].number, *asked);
  for (const present::Cell& cell : row)
    if (qt(cell.text).contains(word, Qt::CaseInsensitive)) return true;
  return false;
}

}  // namespace plumbline::gui
