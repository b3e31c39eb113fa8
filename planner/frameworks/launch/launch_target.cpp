#include "planner/frameworks/launch/launch_target.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {

const std::vector<LaunchTarget>& launch_targets() {
#define ROW(ID, NAME) ID##_target(),
  static const std::vector<LaunchTarget> targets{PLUMBLINE_LAUNCH_TARGETS(ROW)};
#undef ROW
  return targets;
}

const LaunchTarget& launch_target(std::string_view name, std::string_view flag) {
  const std::vector<LaunchTarget>& targets = launch_targets();
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const LaunchTarget& one) { return to_text(one.framework) == name; });
  if (found != targets.end()) return *found;
  std::vector<std::string> names;
  std::string all;
  for (const LaunchTarget& one : targets) {
    names.emplace_back(to_text(one.framework));
    all += (all.empty() ? "" : ", ") + names.back();
  }
  if (flag == "--from") {
    all += ", huggingface";  // a network alone (planner/session/import/import.h)
    names.emplace_back("huggingface");
  }
  throw InputError(
      {std::string(flag), "unknown target '" + std::string(name) + "'", "one of " + all, nearest_text(name, names)});
}

}  // namespace plumbline
