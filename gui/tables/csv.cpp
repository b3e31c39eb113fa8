#include "gui/tables/csv.h"

namespace plumbline::gui {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string csv_text(const present::Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += (i == 0 ? "" : ",") + quoted(table.columns[i].title);
  text += "\r\n";
  for (const std::vector<present::Cell>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + quoted(row[i].text);
    text += "\r\n";
  }
  return text;
}

}  // namespace plumbline::gui
