#include "planner/validate/stage_layout.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Runs may come from anybody: a message stays one line that can be read.
std::string quoted(std::string_view text) {
  return "\"" + (text.size() > 60 ? std::string(text.substr(0, 57)) + "..." : std::string(text)) + "\"";
}

class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : text_(text) {}
  [[nodiscard]] std::vector<std::int32_t> layers() {
    std::vector<std::int32_t> counts{0};
    for (const char c : expanded(0)) {
      if (c == '|') counts.push_back(0);
      if (c == 't' || c == 'm') ++counts.back();
    }
    if (at_ != text_.size()) refuse();
    return counts;
  }

 private:
  [[noreturn]] void refuse(const std::string& what = "is no split of layers",
                           const std::string& expected = "numbers (4,4,3) or a layout (Et*4|(t*4|)*2tmL)") const {
    throw InputError({"layers_per_stage", quoted(text_) + " " + what, expected, ""});
  }

  /// What comes before the end of the text or of the group that is `depth` groups deep.
  std::string expanded(int depth) {
    if (depth > deepest_layout)
      refuse("nests its groups too deep", "at most " + std::to_string(deepest_layout) + " groups in one another");
    std::string all;
    while (at_ < text_.size() && text_[at_] != ')') {
      const std::string part = symbol_or_group(depth);
      const std::size_t times = repetitions();
      // The room is looked at before anything is written: a repetition of repetitions is short to write.
      if (!part.empty() && times > (longest_layout - all.size()) / part.size())
        refuse("is too long once it is written out", "at most " + std::to_string(longest_layout) + " symbols");
      for (std::size_t i = 0; !part.empty() && i < times; ++i) all += part;
    }
    return all;
  }

  std::string symbol_or_group(int depth) {
    const char symbol = text_[at_++];
    if (symbol != '(') {
      if (std::string_view("EtmL|").find(symbol) == std::string_view::npos) refuse();
      return std::string(1, symbol);
    }
    std::string group = expanded(depth + 1);
    if (at_ == text_.size()) refuse();
    ++at_;  // the closing one
    return group;
  }

  std::size_t repetitions() {
    if (at_ == text_.size() || text_[at_] != '*') return 1;
    std::size_t times = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_ + 1, text_.data() + text_.size(), times);
    if (error != std::errc() || times < 1 || times > longest_layout) refuse();
    at_ = static_cast<std::size_t>(end - text_.data());
    return times;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::int32_t> stage_layout_from_text(std::string_view text) {
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789,") != std::string_view::npos) return LayoutReader(text).layers();
  std::vector<std::int32_t> counts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int32_t count = 0;
    const auto [last, error] = std::from_chars(text.data() + at, text.data() + end, count);
    if (error != std::errc() || last != text.data() + end)
      throw InputError({"layers_per_stage", quoted(text) + " is no list of numbers", "4,4,3", ""});
    counts.push_back(count);
    at = end + 1;
  }
  return counts;
}

}  // namespace plumbline
