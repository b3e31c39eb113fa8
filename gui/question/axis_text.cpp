#include "gui/question/axis_text.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "core/base/errors.h"
#include "core/plan/strategy_axes.h"

namespace plumbline::gui {
namespace {

constexpr std::int64_t most_values = 1024;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ') result += c;
  return result;
}

std::string range_values(std::string_view axis, std::string_view text, std::int64_t first, std::int64_t last) {
  if (first > last || last - first >= most_values)
    throw InputError({"--fix " + std::string(axis), "\"" + std::string(text.substr(0, 40)) + "\" is no range",
                      "such as 2-8, the smaller number first, of at most " + std::to_string(most_values) + " values",
                      ""});
  std::string values;
  for (std::int64_t value = first; value <= last; ++value)
    values += (value == first ? "" : "|") + std::to_string(value);
  return values;
}

/// "2-8" and "<=4" as values; anything else as it is.
std::string part_values(std::string_view axis, std::string_view part) {
  const std::int64_t smallest = strategy_axis("--" + std::string(axis)).least;
  if (part.substr(0, 2) == "<=")
    if (const auto last = number_in(part.substr(2))) return range_values(axis, part, smallest, *last);
  const std::size_t dash = part.find('-');
  if (dash != std::string_view::npos) {
    const auto first = number_in(part.substr(0, dash)), last = number_in(part.substr(dash + 1));
    if (first && last) return range_values(axis, part, *first, *last);
  }
  return std::string(part);
}

}  // namespace

std::string axis_values(std::string_view axis, std::string_view text) {
  const std::string typed = without_blanks(text);
  std::string_view rest = typed;
  std::string values;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(",|");
    const std::string_view part = rest.substr(0, end);
    values += (values.empty() ? "" : "|") + part_values(axis, part);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return values;
}

}  // namespace plumbline::gui
