#include "planner/frameworks/syntax/shell_variables.h"

#include <algorithm>
#include <charconv>

#include "core/base/ascii.h"

namespace plumbline {
namespace {

constexpr int deepest_expansion = 32;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
std::optional<std::int64_t> shell_integer(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
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
    if (name.empty()) return std::nullopt;
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

namespace {

bool holds_a_flag(const std::string& value) { return value.starts_with('-') || value.find(" -") != std::string::npos; }

/// "$ARGS --more" of "--some".
bool extends(const std::vector<std::string>* before, const std::vector<std::string>& after) {
  return before != nullptr && before->size() == 1 && after.size() == 1 && !before->front().empty() &&
         after.front().starts_with(before->front()) && holds_a_flag(before->front());
}

}  // namespace

void ShellVariables::remember(const std::string& name) {
  if (open_marks_ == 0) return;
  const std::vector<std::string>* const own = find(name);
  remembered_bytes_ += name.size() + 1;
  if (own != nullptr)
    for (const std::string& value : *own) remembered_bytes_ += value.size() + 1;
  changes_.push_back({name, own == nullptr ? std::nullopt : std::optional(*own)});
}

void ShellVariables::set(const std::string& name, const std::optional<Values>& values) {
  if (values)
    values_[name] = *values;
  else if (const auto found = values_.find(name); found != values_.end())
    values_.erase(found);
}

void ShellVariables::assign(const std::string& name, std::vector<std::string> values) {
  const bool adds_flags = open_marks_ > 0 && extends(find(name), values);
  remember(name);
  if (open_marks_ > 0) changes_.back().adds_flags = adds_flags;
  values_[name] = std::move(values);
}

void ShellVariables::forget(const std::string& name) { assign(name, {"$" + name}); }

void ShellVariables::forget_all() {
  std::vector<std::string> names;
  for (const auto& [name, own] : values_) names.push_back(name);
  for (const std::string& name : names) forget(name);
}

void ShellVariables::erase(const std::string& name) {
  remember(name);
  set(name, std::nullopt);
}

ShellVariables::Mark ShellVariables::open() {
  ++open_marks_;
  return changes_.size();
}

void ShellVariables::close() {
  if (--open_marks_ == 0) changes_.clear();
}

void ShellVariables::keep(Mark /*mark*/) { close(); }

void ShellVariables::roll_back(Mark mark) {
  for (; changes_.size() > mark; changes_.pop_back()) set(changes_.back().name, changes_.back().before);
  close();
}

void ShellVariables::forget_since(Mark mark) {
  // An outer mark remembers what the variables were before: what is overwritten here was assigned behind that.
  for (std::size_t i = mark; i < changes_.size(); ++i)
    if (!changes_[i].adds_flags) values_[changes_[i].name] = {"$" + changes_[i].name};
  close();
}

void ShellVariables::restore(const std::string& name, Mark mark) {
  for (std::size_t i = mark; i < changes_.size(); ++i)
    if (changes_[i].name == name) return set(name, changes_[i].before);
}

void ShellVariables::append(const std::string& name, const std::vector<std::string>& values, bool is_list) {
  remember(name);
  if (open_marks_ > 0) changes_.back().adds_flags = std::any_of(values.begin(), values.end(), holds_a_flag);
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
