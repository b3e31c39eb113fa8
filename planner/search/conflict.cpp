#include "planner/search/conflict.h"

#include <algorithm>
#include <set>

#include "planner/search/space_axes.h"

namespace plumbline {
namespace {

/// Those first that follow from others.
std::vector<SpaceAxis> followers_first() {
  std::vector<SpaceAxis> axes = space_axes();
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// The values of an axis that some strategy of the space has, in the order of enumeration; a few of them.
std::vector<std::string> possible(const Question& question, const SearchSpace& space, const SpaceAxis& axis) {
  constexpr std::size_t most = 12;
  std::vector<std::string> values;
  std::set<std::string> seen;
  const SpaceEnumerator enumerator(question, space);
  enumerator.for_each_family([&](const Strategy& family, const Violation*, std::int64_t) {
    if (values.size() == most) return;
    for (const Strategy& strategy : enumerator.leaves(family))
      if (std::string value = axis.axis->text(strategy); seen.insert(value).second && values.size() < most)
        values.push_back(std::move(value));
  });
  return values;
}

std::string one_of(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return values.size() == 1 ? text : "one of " + text;
}

}  // namespace

InputProblem conflict(const Question& question, const SearchSpace& space) {
  const std::string none = "no strategy of " + std::to_string(question.devices()) + " GPUs" +
                           (space.allows ? " that the framework can launch" : "") + " has ";
  SearchSpace free;
  free.allows = space.allows;
  std::string all;
  for (const SpaceAxis& axis : followers_first()) {
    if (!axis.is_fixed(space)) continue;
    const std::string given = axis.name() + "=" + axis.values_text(space);
    all += (all.empty() ? "" : ",") + given;
    SearchSpace alone = free;
    axis.copy(space, alone);
    if (possible(question, alone, axis).empty())
      return {"--fix", none + given, one_of(possible(question, free, axis)), ""};
  }
  for (const SpaceAxis& axis : followers_first()) {
    if (!axis.is_fixed(space)) continue;
    SearchSpace others = space;
    axis.copy({}, others);
    if (const std::vector<std::string> values = possible(question, others, axis); !values.empty())
      return {"--fix", none + axis.name() + "=" + axis.values_text(space) + " alongside the other values",
              one_of(values), ""};
  }
  return {"--fix", none + all + " together", "fewer values, or those of a plan that search finds without them", ""};
}

}  // namespace plumbline
