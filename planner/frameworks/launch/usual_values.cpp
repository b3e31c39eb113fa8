#include "planner/frameworks/launch/usual_values.h"

#include <algorithm>
#include <optional>
#include <string>

namespace plumbline {
namespace {

std::optional<double> number_of(const Json& value) {
  if (const bool* const flag = value.if_bool()) return *flag ? 1 : 0;
  if (const std::int64_t* const whole = value.if_integer()) return static_cast<double>(*whole);
  if (const double* const number = value.if_double()) return *number;
  return std::nullopt;
}

bool is_word(const Json& value, std::string_view word) {
  return value.if_string() != nullptr && *value.if_string() == word;
}

bool is_usual(const Json& value, const UsualValue& usual) {
  if (!usual.word.empty()) return is_word(value, usual.word);
  if (is_word(value, "true")) return usual.number == 1;
  if (is_word(value, "false")) return usual.number == 0;
  return number_of(value) == usual.number;
}

bool is_off(const Json& section) {
  const Json* const enabled = section.find("enabled");
  const Json* const device = section.find("device");
  return (enabled != nullptr && enabled->if_bool() != nullptr && !*enabled->if_bool()) ||
         (device != nullptr && is_word(*device, "none"));
}

class Filter {
 public:
  Filter(const std::vector<UsualValue>& usual, const std::vector<std::string_view>& kept, std::int64_t& count)
      : usual_(usual), kept_(kept), count_(count) {}

  [[nodiscard]] Json rest(const Json& value, const std::string& above) {
    const Json::Object* const object = value.if_object();
    if (object == nullptr) return value;
    Json::Object left;
    for (const auto& [key, member] : *object) {
      const std::string path = above.empty() ? key : above + "." + key;
      if (is_word(member, "auto")) continue;
      if (says_nothing(path, member))
        ++count_;
      else
        left.emplace_back(key, rest(member, path));
    }
    return left;
  }

 private:
  [[nodiscard]] bool says_nothing(const std::string& path, const Json& value) const {
    if (std::find(kept_.begin(), kept_.end(), path) != kept_.end()) return false;
    return is_off(value) || std::any_of(usual_.begin(), usual_.end(), [&](const UsualValue& one) {
             return one.path == path && is_usual(value, one);
           });
  }

  const std::vector<UsualValue>& usual_;
  const std::vector<std::string_view>& kept_;
  std::int64_t& count_;
};

}  // namespace

Json without_usual_values(const Json& tree, const std::vector<UsualValue>& usual,
                          const std::vector<std::string_view>& kept, std::int64_t& count) {
  return Filter(usual, kept, count).rest(tree, "");
}

}  // namespace plumbline
