#include "planner/frameworks/syntax/python_calls.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "core/base/errors.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::size_t largest_python_text = std::size_t{1} << 20;
constexpr std::size_t deepest_python_nesting = 64;

bool is_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_');
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(std::string_view text, std::size_t at, std::string_view name, std::string what) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  throw InputError({std::string(name) + ": line " + std::to_string(line), std::move(what), "a complete call", ""});
}

/// The end of the string that begins at `at`, of one or three quotes.
std::size_t string_end(std::string_view text, std::size_t at) {
  const std::string_view three = text.substr(at, 3);
  const bool is_long = three == "\"\"\"" || three == "'''";
  const std::string_view quote = text.substr(at, is_long ? 3 : 1);
  for (std::size_t i = at + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text.substr(i, quote.size()) == quote)
      return i + quote.size();
    else if (!is_long && text[i] == '\n')
      break;
  }
  return text.size();
}

/// Past a string or a comment that begins at `at`, else `at`.
std::size_t skipped(std::string_view text, std::size_t at) {
  if (text[at] == '"' || text[at] == '\'') return string_end(text, at);
  return text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at;
}

/// What lies between the bracket at `open` and its own, cut at commas.
struct Parts {
  std::vector<std::string_view> parts;
  std::size_t end = std::string_view::npos;  ///< of the closing bracket; npos: there is none
};

Parts parts_of(std::string_view text, std::size_t open) {
  Parts parts;
  std::size_t depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (const std::size_t behind = skipped(text, i); behind != i) {
      i = behind - 1;
      continue;
    }
    if (std::string_view("([{").find(text[i]) != std::string_view::npos && ++depth > deepest_python_nesting)
      return parts;
    const bool closes = std::string_view(")]}").find(text[i]) != std::string_view::npos;
    if ((closes && depth == 1) || (text[i] == ',' && depth == 1)) {
      if (!trimmed(text.substr(begin, i - begin)).empty())
        parts.parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    if (closes && --depth == 0) {
      parts.end = i;
      return parts;
    }
  }
  return parts;
}

std::optional<Json> number(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const char* const end = digits.data() + digits.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(digits.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
    return Json(whole);
  double real = 0;
  const bool begins_as_number =
      !digits.empty() && (std::isdigit(static_cast<unsigned char>(digits.back())) != 0 || digits.back() == '.');
  if (const auto read = std::from_chars(digits.data(), end, real);
      begins_as_number && read.ec == std::errc{} && read.ptr == end)
    return Json(real);
  return std::nullopt;
}

Json literal_value(std::string_view text) {
  if (text == "True" || text == "False") return text == "True";
  if (text == "None") return {};
  if (const std::optional<Json> found = number(text)) return *found;
  const bool is_string = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                         string_end(text, 0) == text.size() && text.find('\\') == std::string_view::npos;
  if (is_string) return Json(text.substr(1, text.size() - 2));
  if (!text.empty() && (text.front() == '(' || text.front() == '[')) {
    const Parts parts = parts_of(text, 0);
    if (parts.end + 1 == text.size()) {
      Json::Array array;
      for (const std::string_view part : parts.parts) array.push_back(number(part).value_or(Json(part)));
      return array;
    }
  }
  return Json(text);
}

Json arguments_of(const Parts& call) {
  Json::Object arguments;
  std::unordered_set<std::string> seen;
  for (std::string_view part : call.parts) {
    while (part.starts_with('#')) part = trimmed(part.substr(std::min(part.find('\n'), part.size())));
    std::size_t end = 0;
    while (end < part.size() && is_name(part[end])) ++end;
    const std::string_view rest = trimmed(part.substr(end));
    if (end == 0 || !rest.starts_with('=') || rest.starts_with("==")) continue;
    const std::string key(part.substr(0, end));
    if (seen.insert(key).second) arguments.emplace_back(key, literal_value(trimmed(rest.substr(1))));
  }
  return arguments;
}

/// No key of a keyword argument's value: an object with it alone is an expression.
constexpr std::string_view expression_key = "=";

std::string python_value(const Json& value) {
  if (const Json* const expression = value.find(expression_key)) return *expression->if_string();
  if (const Json::Array* const array = value.if_array()) {
    std::string text;
    for (const Json& element : *array) text += (text.empty() ? "" : ", ") + python_value(element);
    return "(" + text + (array->size() == 1 ? ",)" : ")");
  }
  return python_literal(value);
}

}  // namespace

Json read_python_calls(std::string_view text, std::string_view name, const std::vector<std::string_view>& functions) {
  if (text.size() > largest_python_text)
    throw InputError({std::string(name), "larger than 1 MiB", "a smaller script", ""});
  Json::Object calls;
  std::string_view word;
  std::string_view before;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t behind = skipped(text, i); behind != i) {
      i = behind - 1;
      continue;
    }
    if (is_name(text[i])) {
      std::size_t end = i;
      while (end < text.size() && is_name(text[end])) ++end;
      before = word;
      word = text.substr(i, end - i);
      i = end - 1;
      const bool is_call = end < text.size() && text[end] == '(' && before != "def" && before != "class";
      const bool is_asked = std::find(functions.begin(), functions.end(), word) != functions.end();
      if (!is_call || !is_asked || Json(calls).find(word) != nullptr) continue;
      const Parts call = parts_of(text, end);
      if (call.end == std::string_view::npos)
        refuse(text, end, name, "a call of " + std::string(word) + " is not closed");
      calls.emplace_back(word, arguments_of(call));
    }
  }
  return calls;
}

Json python_expression(std::string_view text) { return Json::Object{{std::string(expression_key), Json(text)}}; }

std::string python_call(std::string_view function, const Json& arguments) {
  std::string text = std::string(function) + "(\n";
  for (const auto& [key, value] : *arguments.if_object()) text += "    " + key + "=" + python_value(value) + ",\n";
  return text + ")";
}

}  // namespace plumbline
