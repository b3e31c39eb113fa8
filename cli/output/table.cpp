#include "cli/output/table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <string_view>

#include "cli/output/terminal.h"
#include "core/base/escape.h"

namespace plumbline {
namespace {

/// Whether a byte does not continue a UTF-8 sequence.
bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Characters on the terminal.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::size_t used = width_of(cell);
  const std::string blank(width > used ? width - used : 0, ' ');
  return align == Align::right ? blank + cell : cell + blank;
}

/// The first `width` characters.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t bytes = 0;
  for (std::size_t characters = 0; bytes < text.size(); ++bytes)
    if (begins_character(text[bytes]) && ++characters > width) break;
  return text.substr(0, bytes);
}

std::string cut(const std::string& cell, std::size_t width) {
  constexpr std::string_view dots = "...";
  if (width_of(cell) <= width || width <= dots.size()) return cell;
  return std::string(beginning(cell, width - dots.size())).append(dots);
}

/// Takes `excess` characters from the columns that may be cut, the widest first; each keeps `least`.
void narrow(std::vector<std::size_t>& widths, std::vector<std::size_t> columns, std::size_t excess, std::size_t least) {
  const auto wider = [&](std::size_t a, std::size_t b) { return widths[a] < widths[b]; };
  while (excess > 0 && !columns.empty()) {
    std::size_t& widest = widths[*std::max_element(columns.begin(), columns.end(), wider)];
    if (widest <= least) return;
    --widest;
    --excess;
  }
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

Table::Table(const present::Table& table) {
  for (const present::Column& column : table.columns)
    columns_.push_back({column.title, column.align, column.keep, column.drop_order});
  for (const std::vector<present::Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const present::Cell& cell : row) cells.push_back(cell.text);
    add_row(std::move(cells));
  }
}

void Table::add_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

/// Text gives way before numbers, and explanations in the last column before names.
void Table::fit_widths(std::vector<std::size_t>& widths, const std::vector<std::size_t>& shown,
                       std::size_t columns) const {
  constexpr std::size_t least = 17;  // a step with its interval, "60.17 (52.9-68.4)", stays whole
  const auto excess = [&] {
    std::size_t sum = 0;
    for (const std::size_t c : shown) sum += widths[c];
    return sum - std::min(sum, columns);
  };
  std::vector<std::size_t> texts;
  for (const std::size_t c : shown)
    if (columns_[c].align == Align::left) texts.push_back(c);
  if (!texts.empty() && texts.back() == shown.back()) narrow(widths, {shown.back()}, excess(), least);
  narrow(widths, texts, excess(), least);
  narrow(widths, shown, excess(), least);
}

RenderedTable Table::render(std::size_t columns) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(width_of(columns_[c].header));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  const auto is_constant = [&](std::size_t c) {
    return columns_[c].keep == Keep::unless_constant &&
           std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[c] == rows_.front()[c]; });
  };
  const auto width = [&](std::size_t gap) {
    std::size_t sum = shown.empty() ? 0 : gap * (shown.size() - 1);
    for (const std::size_t c : shown) sum += widths[c];
    return sum;
  };
  RenderedTable result;
  while (!rows_.empty() && width(2) > columns) {
    const auto leaving = std::find_if(shown.rbegin(), shown.rend(), is_constant);
    if (leaving == shown.rend()) break;
    result.in_all_rows.insert(result.in_all_rows.begin(), columns_[*leaving].header + " " + rows_.front()[*leaving]);
    shown.erase(std::next(leaving).base());
  }
  while (width(1) > columns) {
    const auto order = [&](std::size_t c) {
      return columns_[c].drop_order == 0 ? std::numeric_limits<int>::max() : columns_[c].drop_order;
    };
    const auto leaving =
        std::min_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) { return order(a) < order(b); });
    if (leaving == shown.end() || columns_[*leaving].drop_order == 0) break;
    result.left_out.push_back(columns_[*leaving].header);
    shown.erase(leaving);
  }
  const std::string gap(width(2) > columns ? 1 : 2, ' ');
  fit_widths(widths, shown, columns - std::min(columns, gap.size() * (shown.size() - 1)));
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (const std::size_t c : shown)
      text += (text.empty() ? "" : gap) + padded(cut(cell_of(c), widths[c]), widths[c], columns_[c].align);
    return without_trailing_blanks(text);
  };
  result.lines.push_back(line([&](std::size_t c) -> const std::string& { return columns_[c].header; }));
  for (const auto& row : rows_)
    result.lines.push_back(line([&](std::size_t c) -> const std::string& { return row[c]; }));
  return result;
}

std::string Table::text(std::size_t columns) const {
  std::string text;
  for (const std::string& line : render(columns).lines) text += line + "\n";
  return text;
}

std::string text(const present::Table& table) { return Table(table).text(terminal_columns()); }

std::string indented_text(present::Table table) {
  table.columns.front().title.insert(0, 2, ' ');
  for (std::vector<present::Cell>& row : table.rows) row.front().text.insert(0, 2, ' ');
  return text(table);
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent, std::size_t begin) {
  std::istringstream words(printable_lines(text));
  std::string result;
  std::size_t used = begin;
  for (std::string word; words >> word;) {
    const std::size_t length = width_of(word);
    if (!result.empty() && used + 1 + length > columns) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!result.empty()) {
      result += " ";
      ++used;
    }
    // A word longer than a line goes on in the next.
    for (std::string_view rest = word; !rest.empty();) {
      const std::string_view part = beginning(rest, std::max<std::size_t>(1, columns - std::min(columns, used)));
      result += part;
      rest.remove_prefix(part.size());
      used += width_of(part);
      if (rest.empty()) break;
      result += "\n" + std::string(indent, ' ');
      used = indent;
    }
  }
  return result;
}

}  // namespace plumbline
