#include "planner/frameworks/syntax/shell_variables.h"

#include <charconv>

#include "core/base/ascii.h"

namespace plumbline {
namespace {

constexpr int deepest_expansion = 32;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
std::optional<std::int64_t> shell_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A descent over sums, products and atoms.
class Expression {
 public:
  Expression(std::string_view text, const ShellVariables& variables) : text_(text), variables_(variables) {}

  std::optional<std::int64_t> value() {
    const std::optional<std::int64_t> all = sum(0);
    skip_blanks();
    return at_ == text_.size() ? all : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  [[nodiscard]] char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::optional<std::int64_t> sum(int depth) {
    std::optional<std::int64_t> all = product(depth);
    while (all && (next() == '+' || next() == '-')) {
      const char sign = text_[at_++];
      const std::optional<std::int64_t> more = product(depth);
      std::int64_t result = 0;
      if (!more ||
          (sign == '+' ? __builtin_add_overflow(*all, *more, &result) : __builtin_sub_overflow(*all, *more, &result)))
        return std::nullopt;
      all = result;
    }
    return all;
  }

  std::optional<std::int64_t> product(int depth) {
    std::optional<std::int64_t> all = atom(depth);
    while (all && (next() == '*' || next() == '/' || next() == '%')) {
      const char sign = text_[at_++];
      const std::optional<std::int64_t> more = atom(depth);
      if (!more) return std::nullopt;
      all = combined(sign, *all, *more);
    }
    return all;
  }

  static std::optional<std::int64_t> combined(char sign, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (sign == '*') return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    if (b == 0 || b == -1) return std::nullopt;
    return sign == '/' ? a / b : a % b;
  }

  std::optional<std::int64_t> atom(int depth) {
    if (depth > deepest_expansion) return std::nullopt;
    const char c = next();
    if (c == '(') {
      ++at_;
      const std::optional<std::int64_t> inside = sum(depth + 1);
      if (next() != ')') return std::nullopt;
      ++at_;
      return inside;
    }
    if (is_digit(c)) return number();
    return variable();
  }

  std::optional<std::int64_t> number() {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return shell_integer(text_.substr(first, at_ - first));
  }

  std::optional<std::int64_t> variable() {
    if (next() == '$') ++at_;
    const bool braces = at_ < text_.size() && text_[at_] == '{';
    if (braces) ++at_;
    const std::string_view name = leading_name(text_.substr(at_));
    at_ += name.size();
    if (braces && (at_ == text_.size() || text_[at_++] != '}')) return std::nullopt;
    const std::vector<std::string>* const found = variables_.find(name);
    return found == nullptr || found->size() != 1 ? std::nullopt : shell_integer(found->front());
  }

  std::string_view text_;
  const ShellVariables& variables_;
  std::size_t at_ = 0;
};

}  // namespace

void ShellVariables::assign(const std::string& name, std::vector<std::string> values) {
  values_[name] = std::move(values);
}

void ShellVariables::append(const std::string& name, const std::vector<std::string>& values, bool is_list) {
  std::vector<std::string>& own = values_[name];
  if (is_list || own.empty() || values.empty())
    own.insert(own.end(), values.begin(), values.end());
  else
    own.front() += values.front();
}

const std::vector<std::string>* ShellVariables::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::string> ShellVariables::all() const {
  std::vector<std::string> values;
  for (const auto& [name, own] : values_) values.insert(values.end(), own.begin(), own.end());
  return values;
}

std::string_view leading_name(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && (is_letter(text[size]) || (size > 0 && is_digit(text[size])))) ++size;
  return text.substr(0, size);
}

std::optional<std::int64_t> arithmetic(std::string_view expression, const ShellVariables& variables) {
  return Expression(expression, variables).value();
}

}  // namespace plumbline
