#include "planner/frameworks/syntax/quoting.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/base/escape.h"
#include "planner/frameworks/syntax/yaml_words.h"

namespace plumbline {
namespace {

/// Without the end of line that JSON texts have.
std::string json_on_one_line(const Json& value) {
  std::string text = to_json_text(value, -1);
  text.pop_back();
  return text;
}

bool has_lines(const Json::Array& array) { return array.size() > 1 && array.front().if_array() != nullptr; }

std::string infinite_text(double number) { return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"; }

std::string python_list(const Json::Array& array, std::size_t indent) {
  if (!has_lines(array)) {
    std::string text;
    for (const Json& one : array) text += (text.empty() ? "" : ", ") + python_literal(one, indent);
    return "[" + text + "]";
  }
  const std::string margin(indent, ' ');
  std::string text;
  for (const Json& one : array) text += "\n    " + margin + python_literal(one, indent + 4) + ",";
  return "[" + text + "\n" + margin + "]";
}

std::string python_dictionary(const Json::Object& object, std::size_t indent) {
  std::string text;
  for (const auto& [key, value] : object)
    text += (text.empty() ? "" : ", ") + json_on_one_line(Json(key)) + ": " + python_literal(value, indent);
  return "{" + text + "}";
}

std::string toml_array(const Json::Array& array) {
  const bool lines = has_lines(array);
  std::string text;
  for (const Json& inner : array) {
    if (inner.is_null()) continue;
    text += (text.empty() ? "" : lines ? "," : ", ") + std::string(lines ? "\n  " : "") + toml_value(inner);
  }
  return "[" + text + (lines ? ",\n]" : "]");
}

std::string toml_inline_table(const Json::Object& object) {
  std::string text;
  for (const auto& [key, inner] : object)
    if (!inner.is_null()) text += (text.empty() ? "" : ", ") + toml_key(key) + " = " + toml_value(inner);
  return "{" + text + "}";
}

}  // namespace

std::string python_literal(const Json& value, std::size_t indent) {
  if (value.is_null()) return "None";
  if (const bool* const flag = value.if_bool()) return *flag ? "True" : "False";
  if (const Json::Array* const array = value.if_array()) return python_list(*array, indent);
  if (const Json::Object* const object = value.if_object()) return python_dictionary(*object, indent);
  if (const double* const number = value.if_double(); number != nullptr && !std::isfinite(*number))
    return "float(\"" + infinite_text(*number) + "\")";
  return json_on_one_line(value);
}

std::string toml_key(const std::string& key) {
  const bool is_bare = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x80 &&
           (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
  });
  return is_bare ? key : json_on_one_line(Json(key));
}

std::string toml_value(const Json& value) {
  if (const Json::Object* const object = value.if_object()) return toml_inline_table(*object);
  if (const Json::Array* const array = value.if_array()) return toml_array(*array);
  if (const double* const number = value.if_double(); number != nullptr && !std::isfinite(*number))
    return infinite_text(*number);
  return json_on_one_line(value);
}

std::string yaml_quoted(const std::string& text) {
  const bool is_simple =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '\''; });
  return is_simple ? "'" + text + "'" : json_on_one_line(Json(text));
}

std::string yaml_scalar(const Json& value) {
  if (const std::string* const text = value.if_string()) return is_plain_yaml(*text) ? *text : yaml_quoted(*text);
  std::string text = json_on_one_line(value);
  // Numbers as PyYAML takes them: 1e-05 would be a word to it, 1.0e-05 is none.
  const std::size_t exponent = text.find('e');
  if (value.if_double() != nullptr && exponent != std::string::npos && text.find('.') == std::string::npos)
    text.insert(exponent, ".0");
  return text;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string comment_text(std::string_view text) { return printable(text); }

}  // namespace plumbline
