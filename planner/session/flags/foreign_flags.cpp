#include "planner/session/flags/foreign_flags.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/base/errors.h"
#include "core/plan/strategy_axes.h"
#include "planner/search/space.h"
#include "planner/session/question_flags.h"
#include "planner/session/search/search_flags.h"

namespace plumbline::session {
namespace {

/// Flags of other programs to ours, of what no table of options holds.
constexpr std::array others{std::pair<std::string_view, std::string_view>{"--lr", "--learning-rate"},
                            std::pair<std::string_view, std::string_view>{"--output", "--out"},
                            std::pair<std::string_view, std::string_view>{"--output-dir", "--out"}};

class ForeignFlags {
 public:
  ForeignFlags() {
    for (const StrategyAxis& axis : strategy_axes()) add(axis.flag, axis.foreign);
    add(question_options(Recipes::one, DeviceCounts::one));
    add(search_options());
    add(ranking_options());
    ours_.insert(others.begin(), others.end());
  }
  [[nodiscard]] std::string ours(const std::string& flag) const {
    const auto found = ours_.find(flag);
    return found == ours_.end() ? flag : std::string(found->second);
  }

 private:
  void add(std::string_view ours, const std::vector<std::string_view>& theirs) {
    for (const std::string_view one : theirs) ours_.try_emplace(one, ours);
  }
  template <class Flags>
  void add(const Options<Flags>& options) {
    for (const Option<Flags>& option : options) add(option.words.flag, option.words.foreign);
  }

  std::map<std::string_view, std::string_view> ours_;
};

}  // namespace

std::string nearest_flag(const std::string& flag, const std::vector<std::string>& names, const std::string& value) {
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  static const ForeignFlags foreign;
  const std::string ours = foreign.ours(flag);
  if (has(ours)) return ours;
  const std::string axis(has("--fix") ? search_axis(ours.substr(std::min<std::size_t>(2, ours.size()))) : "");
  if (!axis.empty()) return "--fix " + axis + "=" + (value.empty() ? "VALUE" : value.substr(0, 40));
  return nearest_text(flag, names);
}

}  // namespace plumbline::session
