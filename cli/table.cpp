#include "cli/table.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>

namespace plumbline {
namespace {

/// Characters on the terminal: bytes that do not continue a UTF-8 sequence.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::size_t used = width_of(cell);
  const std::string blank(width > used ? width - used : 0, ' ');
  return align == Align::right ? blank + cell : cell + blank;
}

std::string cut(const std::string& cell, std::size_t width) {
  constexpr std::string_view dots = "...";
  if (width_of(cell) <= width || width <= dots.size()) return cell;
  return cell.substr(0, width - dots.size()).append(dots);
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

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
  const std::string gap(width(2) > columns ? 1 : 2, ' ');
  if (const std::size_t wide = width(gap.size()); wide > columns && columns_[shown.back()].align == Align::left)
    widths[shown.back()] -= std::min(widths[shown.back()], wide - columns);
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

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent, std::size_t begin) {
  std::istringstream words(text);
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
    result += word;
    used += length;
  }
  return result;
}

}  // namespace plumbline
