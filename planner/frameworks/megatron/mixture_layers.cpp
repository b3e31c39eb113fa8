// --moe-layer-freq: a number, or a Python expression of lists of 0 and 1.
#include <charconv>
#include <optional>

#include "planner/frameworks/megatron/shape.h"
#include "planner/frameworks/megatron/values.h"

namespace plumbline::megatron {
namespace {

constexpr std::size_t most_layers_read = 100'000;

/// Sums and repetitions of lists: "([0]*3+[1]*58)".
class ListExpression {
 public:
  explicit ListExpression(std::string text) : text_(std::move(text)) {
    std::erase_if(text_, [](char c) { return c == ' ' || c == '"' || c == '\''; });
  }

  std::vector<bool> all() {
    std::vector<bool> value = sum(0);
    if (at_ != text_.size()) refuse();
    return value;
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError(
        {"", "'" + text_.substr(0, 60) + "' is no list of 0 and 1", "a number, or lists such as ([0]*3+[1]*58)", ""});
  }
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void take(char c) {
    if (next() != c) refuse();
    ++at_;
  }

  std::vector<bool> sum(int depth) {
    std::vector<bool> value = repeated(depth);
    while (next() == '+') {
      ++at_;
      const std::vector<bool> more = repeated(depth);
      value.insert(value.end(), more.begin(), more.end());
      if (value.size() > most_layers_read) refuse();
    }
    return value;
  }

  std::vector<bool> repeated(int depth) {
    std::vector<bool> value = atom(depth);
    while (next() == '*') {
      ++at_;
      std::size_t times = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), times);
      if (error != std::errc{} || times * value.size() > most_layers_read || times > most_layers_read) refuse();
      at_ = static_cast<std::size_t>(end - text_.data());
      std::vector<bool> all;
      for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), value.begin(), value.end());
      value = std::move(all);
    }
    return value;
  }

  std::vector<bool> atom(int depth) {
    if (depth > 16) refuse();
    if (next() == '(') {
      ++at_;
      std::vector<bool> inside = sum(depth + 1);
      take(')');
      return inside;
    }
    take('[');
    std::vector<bool> value;
    while (next() != ']') {
      if (next() != '0' && next() != '1') refuse();
      value.push_back(text_[at_++] == '1');
      if (next() != ']') take(',');
    }
    ++at_;
    return value;
  }

  std::string text_;
  std::size_t at_ = 0;
};

/// 2, or '2' in quotes that a script left.
std::optional<std::int64_t> number(const Json& frequency) {
  if (const std::int64_t* const value = frequency.if_integer()) return *value;
  std::string text = word(frequency);
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<bool> mixture_layers(const Json& frequency, std::int64_t layers) {
  if (layers > static_cast<std::int64_t>(most_layers_read))
    throw InputError({"", std::to_string(layers) + " layers", "at most 100000", ""});
  if (const std::optional<std::int64_t> step_said = number(frequency)) {
    const std::int64_t step = whole(*step_said, 1, largest_degree);
    std::vector<bool> all;
    for (std::int64_t i = 0; i < layers; ++i) all.push_back(i % step == 0);
    return all;
  }
  std::vector<bool> all = ListExpression(word(frequency)).all();
  if (static_cast<std::int64_t>(all.size()) != layers)
    throw InputError(
        {"", std::to_string(all.size()) + " layers are listed", "one entry for each of " + std::to_string(layers), ""});
  return all;
}

}  // namespace plumbline::megatron
