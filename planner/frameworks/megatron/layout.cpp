#include "planner/frameworks/megatron/layout.h"

#include <charconv>

#include "core/base/errors.h"

namespace plumbline::megatron {
namespace {

constexpr std::size_t longest = 100'000;

[[noreturn]] void refuse(std::string_view layout, const std::string& what) {
  throw InputError({"", "'" + std::string(layout.substr(0, 60)) + "' " + what,
                    "a layout such as 'Et*3|(t*4|)*6t*3L', of E, t, m and L, with '|' behind a stage", ""});
}

std::string repeated(std::string_view text, std::int64_t times, std::string_view layout) {
  if (times < 0 || static_cast<std::size_t>(times) * text.size() > longest) refuse(layout, "repeats too much");
  std::string all;
  for (std::int64_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The layout without repetitions and brackets.
class Expansion {
 public:
  explicit Expansion(std::string_view layout) : layout_(layout) {}

  std::string all() {
    std::string text = sequence(0);
    if (at_ < layout_.size()) refuse(layout_, "has a ')' too many");
    return text;
  }

 private:
  std::string sequence(int depth) {
    if (depth > 16) refuse(layout_, "is nested too deep");
    std::string text;
    while (at_ < layout_.size() && layout_[at_] != ')') {
      const std::string one = element(depth);
      text += repeated(one, times(), layout_);
      if (text.size() > longest) refuse(layout_, "is too long");
    }
    return text;
  }

  std::string element(int depth) {
    const char c = layout_[at_++];
    if (c == ',' || c == ' ') return "";
    if (c == '(') {
      std::string inside = sequence(depth + 1);
      if (at_ == layout_.size()) refuse(layout_, "has a '(' that is not closed");
      ++at_;
      return inside;
    }
    if (std::string_view("EtmL|").find(c) == std::string_view::npos) refuse(layout_, std::string("has a '") + c + "'");
    return std::string(1, c);
  }

  std::int64_t times() {
    if (at_ == layout_.size() || layout_[at_] != '*') return 1;
    const char* const first = layout_.data() + at_ + 1;
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(first, layout_.data() + layout_.size(), count);
    if (error != std::errc{}) refuse(layout_, "has no number behind '*'");
    at_ = static_cast<std::size_t>(end - layout_.data());
    return count;
  }

  std::string_view layout_;
  std::size_t at_ = 0;
};

}  // namespace

std::string layout_text(const std::vector<std::int32_t>& layers) {
  std::string text = "E";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i > 0) text += '|';
    if (layers[i] > 0) text += 't';
    if (layers[i] > 1) text += "*" + std::to_string(layers[i]);
  }
  return text + "L";
}

std::vector<std::int32_t> layers_from_layout(std::string_view layout) {
  const std::string all = Expansion(layout).all();
  std::vector<std::int32_t> layers{0};
  for (const char c : all) {
    if (c == 't') ++layers.back();
    if (c == '|') layers.push_back(0);
  }
  return layers;
}

}  // namespace plumbline::megatron
