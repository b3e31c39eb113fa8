#include "planner/frameworks/syntax/script_template.h"

#include <algorithm>
#include <cctype>

#include "core/base/errors.h"
#include "models/embedded.h"

namespace plumbline {
namespace embedded {
std::span<const EmbeddedFile> script_templates();  // written by plumbline_embed, see planner/CMakeLists.txt
}  // namespace embedded

namespace {

constexpr std::string_view place_mark = "# plumbline: ";
constexpr std::string_view place_prefix = "PLUMBLINE_";

/// Up to the line's end, which is taken off with it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::size_t margin_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

std::string_view without_end_spaces(std::string_view text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

class TemplateFiller {
 public:
  explicit TemplateFiller(const std::vector<ScriptFilling>& fillings)
      : fillings_(fillings), is_placed_(fillings.size(), false) {}

  std::string filled(std::string_view script) {
    while (!script.empty()) take(next_line(script));
    check(keeps_.empty(), "every block of a template ends");
    check(std::find(is_placed_.begin(), is_placed_.end(), false) == is_placed_.end(),
          "a template has every place that is filled");
    return std::move(text_);
  }

 private:
  template <class Value>
  const Value& value(std::string_view name) {
    const auto found =
        std::find_if(fillings_.begin(), fillings_.end(), [name](const ScriptFilling& one) { return one.name == name; });
    check(found != fillings_.end(), "every place of a template is filled");
    is_placed_[static_cast<std::size_t>(found - fillings_.begin())] = true;
    const Value* const held = std::get_if<Value>(&found->value);
    check(held != nullptr, "a text fills a place of a template, a yes or no decides on its lines");
    return *held;
  }

  [[nodiscard]] bool is_kept() const { return std::find(keeps_.begin(), keeps_.end(), false) == keeps_.end(); }

  void take(std::string_view line) {
    if (line.substr(margin_of(line)).starts_with("##")) return;
    const std::size_t mark = line.find(place_mark);
    if (mark == std::string_view::npos) return add(with_names(line));
    const std::string_view code = without_end_spaces(line.substr(0, mark));
    const std::string_view said = line.substr(mark + place_mark.size());
    if (said.starts_with("if not ")) return begin_choice(code, !value<bool>(said.substr(7)));
    if (said.starts_with("if ")) return begin_choice(code, value<bool>(said.substr(3)));
    if (said != "else" && said != "end") return add_lines(value<std::string>(said), margin_of(line));
    check(!keeps_.empty(), "a block of a template begins before it ends");
    if (said == "else")
      keeps_.back() = !keeps_.back();
    else
      keeps_.pop_back();
  }

  /// Of the line's own code, or else of the lines below.
  void begin_choice(std::string_view code, bool keeps) {
    if (code.empty()) return keeps_.push_back(keeps);
    const std::string line = with_names(code);
    if (keeps) add(line);
  }

  void add(const std::string& line) {
    if (is_kept()) text_ += line + "\n";
  }

  void add_lines(std::string_view lines, std::size_t margin) {
    while (!lines.empty()) {
      const std::string_view line = next_line(lines);
      add(line.empty() ? "" : std::string(margin, ' ') + std::string(line));
    }
  }

  std::string with_names(std::string_view line) {
    std::string text;
    for (std::size_t at = 0; (at = line.find(place_prefix)) != std::string_view::npos;) {
      const auto* const end = std::find_if_not(line.begin() + at, line.end(), [](char c) {
        return std::isupper(static_cast<unsigned char>(c)) != 0 || c == '_';
      });
      const auto size = static_cast<std::size_t>(end - line.begin()) - at;
      text += std::string(line.substr(0, at)) + value<std::string>(line.substr(at, size));
      line.remove_prefix(at + size);
    }
    return text + std::string(line);
  }

  const std::vector<ScriptFilling>& fillings_;
  std::vector<bool> is_placed_;
  std::vector<bool> keeps_;  ///< of each block that is open
  std::string text_;
};

}  // namespace

std::string_view script_template(std::string_view path) {
  const auto files = embedded::script_templates();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [path](const embedded::EmbeddedFile& file) { return file.name == path; });
  check(found != files.end(), "every template of a script is compiled in");
  return found->text;
}

std::string filled_script(std::string_view script, const std::vector<ScriptFilling>& fillings) {
  return TemplateFiller(fillings).filled(script);
}

}  // namespace plumbline
