#include "planner/frameworks/syntax/toml.h"

namespace {
struct BrokenAssumption {};
[[noreturn]] void refuse_assumption() { throw BrokenAssumption(); }
}  // namespace

// The parser takes for granted that a header such as [t] begins with a character of keys, and without assertions what
// follows is undefined: here such a text is refused, in every build.
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : refuse_assumption())
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <cctype>
#include <cmath>
#include <sstream>

#include "core/base/errors.h"
#include "core/base/escape.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline {
namespace {

constexpr std::size_t largest_toml_text = std::size_t{64} << 20;
constexpr int deepest_toml_nesting = 64;
constexpr std::int64_t most_values = 4'000'000;

std::string line_of(std::string_view name, std::int64_t line) { return std::string(name) + ":" + std::to_string(line); }

/// Walks over a text as the parser will, for what that does not withstand: keys such as a.a.a.a, of which each dot is a
/// table inside another, a million to be freed on one stack; and characters outside ASCII where TOML 1.0 has none.
class ParserGuard {
 public:
  ParserGuard(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  void check() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark, which the parser skips
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '#')
        skip_to_line_end();
      else
        step(c);
    }
  }

 private:
  void step(char c) {
    if (static_cast<unsigned char>(c) >= 0x80)  // the parser's classes of letters are undefined for some
      throw InputError({line_of(name_, line_), "not valid TOML: a character outside ASCII that is in no quotes",
                        "keys of letters, digits, - and _, or in quotes", ""});
    if (c == '\n') ++line_;
    if (c == '.') {
      if (++dots_ > deepest_toml_nesting) refuse();
    } else if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) {
      dots_ = 0;
    }
    ++at_;
  }

  [[noreturn]] void refuse() const {
    throw InputError({line_of(name_, line_), "a key of more than " + std::to_string(deepest_toml_nesting) + " parts",
                      "a flatter document", ""});
  }

  void skip_to_line_end() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  /// A string of one line ends at the line's end even where its quote is missing: the parser stops there.
  void skip_string(char quote) {
    const bool is_long = text_.substr(at_, 3) == std::string(3, quote);
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !is_long) return;
      if (c == '\n') ++line_;
      if (c == quote && ends_string(quote, is_long)) return;
      const bool is_escape = c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n';
      at_ += is_escape ? std::size_t{2} : std::size_t{1};
    }
  }

  /// At a quote. Two quotes may stand before the three that end a long string.
  bool ends_string(char quote, bool is_long) {
    if (!is_long) {
      ++at_;
      return true;
    }
    if (text_.substr(at_, 3) != std::string(3, quote)) return false;
    at_ += 3;
    for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
    return true;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  int dots_ = 0;
};

/// The parser's tree as ours.
class Converter {
 public:
  explicit Converter(std::string_view name) : name_(name) {}

  Json value_of(const toml::node& node, int depth) {
    if (++values_ > most_values) refuse(node, "more than " + std::to_string(most_values) + " values");
    if (depth > deepest_toml_nesting)
      refuse(node, "nested deeper than " + std::to_string(deepest_toml_nesting) + " levels");
    if (const toml::table* const table = node.as_table()) {
      Json::Object object;
      for (const auto& [key, inner] : *table) object.emplace_back(std::string(key.str()), value_of(inner, depth + 1));
      return object;
    }
    if (const toml::array* const array = node.as_array()) {
      Json::Array elements;
      for (const toml::node& inner : *array) elements.push_back(value_of(inner, depth + 1));
      return elements;
    }
    return scalar(node);
  }

 private:
  static Json scalar(const toml::node& node) {
    if (const auto* const text = node.as_string()) return text->get();
    if (const auto* const flag = node.as_boolean()) return flag->get();
    if (const auto* const integer = node.as_integer()) return integer->get();
    if (const auto* const number = node.as_floating_point()) return number->get();
    std::ostringstream date;
    if (const auto* const day = node.as_date()) date << day->get();
    if (const auto* const time = node.as_time()) date << time->get();
    if (const auto* const moment = node.as_date_time()) date << moment->get();
    return date.str();
  }

  [[noreturn]] void refuse(const toml::node& node, const std::string& what) const {
    throw InputError({line_of(name_, node.source().begin.line), what, "a smaller document", ""});
  }

  std::string_view name_;
  std::int64_t values_ = 0;
};

/// Keys with values first: behind a [header] they would belong to that table.
void append_table(std::string& text, const Json::Object& object, const std::string& path) {
  std::string lines;
  for (const auto& [key, value] : object)
    if (!value.is_null() && value.if_object() == nullptr) lines += toml_key(key) + " = " + toml_value(value) + "\n";
  if (!lines.empty() || object.empty()) {
    if (!path.empty()) text += (text.empty() ? "[" : "\n[") + path + "]\n";
    text += lines;
  }
  for (const auto& [key, value] : object)
    if (const Json::Object* const inner = value.if_object())
      append_table(text, *inner, path + (path.empty() ? "" : ".") + toml_key(key));
}

}  // namespace

Json read_toml(std::string_view text, std::string_view name) {
  if (text.size() > largest_toml_text)
    throw InputError(
        {std::string(name), "over " + std::to_string(largest_toml_text >> 20) + " MiB", "a TOML file", ""});
  ParserGuard(text, name).check();
  try {
    return Converter(name).value_of(toml::parse(text), 0);
  } catch (const toml::parse_error& error) {
    throw InputError({line_of(name, error.source().begin.line),
                      "not valid TOML: " + printable(std::string(error.description())), "a complete TOML document",
                      ""});
  } catch (const BrokenAssumption&) {
    throw InputError({std::string(name), "not valid TOML: a key begins with a character that no key has",
                      "letters, digits, - and _, or quotes", ""});
  }
}

std::string toml_text(const Json& tree) {
  std::string text;
  if (const Json::Object* const object = tree.if_object()) append_table(text, *object, "");
  return text;
}

}  // namespace plumbline
