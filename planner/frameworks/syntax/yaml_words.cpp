#include "planner/frameworks/syntax/yaml_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "core/base/ascii.h"

namespace plumbline {
namespace {

struct Word {
  std::string_view text;  ///< in lower case: also read with a capital, or all in capitals
  int value;              ///< 0, 1: a boolean; 2: null
};
constexpr std::array words{Word{"true", 1}, Word{"false", 0}, Word{"yes", 1},  Word{"no", 0},
                           Word{"on", 1},   Word{"off", 0},   Word{"null", 2}, Word{"~", 2}};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// "no", "No" and "NO", not "nO".
bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (lower(text[i]) != word[i]) return false;
  const bool rest_is_lower = std::none_of(text.begin() + 1, text.end(), is_upper);
  const bool all_are_upper = std::all_of(text.begin(), text.end(), [](char c) { return !(c >= 'a' && c <= 'z'); });
  return rest_is_lower || all_are_upper;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>)
    result = std::from_chars(text.data(), end, value);
  else
    result = std::from_chars(text.data(), end, value, base);
  return result.ec == std::errc{} && result.ptr == end ? std::optional<Number>(value) : std::nullopt;
}

/// "-12", "0x1F", "0o17"; "1_000" as PyYAML reads it.
std::optional<std::int64_t> yaml_integer(std::string_view text) {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0o")) {
    base = text[1] == 'x' ? 16 : 8;
    text.remove_prefix(2);
  }
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const std::optional<std::int64_t> value = number<std::int64_t>(digits, base);
  if (!value || (!digits.empty() && digits.front() == '-')) return std::nullopt;
  return is_negative ? -*value : *value;
}

/// "1.5", ".5", "1e-5", "-2.E+3".
std::optional<double> real(std::string_view text) {
  std::string_view rest = text;
  if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) rest.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (rest.empty() || !(is_digit(rest.front()) || rest.front() == '.')) return std::nullopt;
  if (std::none_of(rest.begin(), rest.end(), is_digit)) return std::nullopt;
  const std::optional<double> value = number<double>(text, 0);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// PyYAML takes "1:30" for 90 and "2020-01-02" for a date.
bool is_number_like(std::string_view text) {
  const std::size_t first = text.find_first_not_of("+-.");
  return first != std::string_view::npos && is_digit(text[first]);
}

bool is_inside(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f && std::string_view(":#,[]{}\"'`\\").find(c) == std::string_view::npos;
}

}  // namespace

Json plain_yaml_value(std::string_view text) {
  if (text.empty()) return {};
  for (const Word& word : words)
    if (is_word(text, word.text)) return word.value == 2 ? Json() : Json(word.value == 1);
  if (const std::optional<std::int64_t> whole = yaml_integer(text)) return *whole;
  if (const std::optional<double> value = real(text)) return *value;
  return Json(text);
}

bool is_plain_yaml(std::string_view text) {
  if (text.empty() || text.size() > 200 || is_number_like(text)) return false;
  if (plain_yaml_value(text).if_string() == nullptr || is_word(text, "y") || is_word(text, "n")) return false;
  if (std::string_view("-?!&*|>%@=<.+~").find(text.front()) != std::string_view::npos) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_single_space = text[i] == ' ' && i > 0 && i + 1 < text.size() && text[i + 1] != ' ';
    if (!is_inside(text[i]) && !is_single_space) return false;
  }
  return true;
}

}  // namespace plumbline
