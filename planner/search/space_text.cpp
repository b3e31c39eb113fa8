// --fix of a search: "tp=8,zero=1|2" as a space.
#include <algorithm>
#include <array>
#include <set>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "planner/question/axis_text.h"
#include "planner/search/space.h"
#include "planner/search/space_axes.h"

namespace plumbline {
namespace {

/// Short names that people use besides flags and keys.
struct AxisAlias {
  std::string_view alias;
  std::string_view axis;
};
constexpr std::array axis_aliases{AxisAlias{"vs", "virtual-stages"}, AxisAlias{"vpp", "virtual-stages"},
                                  AxisAlias{"mbs", "micro-batch"}, AxisAlias{"sp", "sequence-parallel"}};

/// The axis of a flag without its dashes, a key of plan files or a short name; null: there is none.
const SpaceAxis* find_axis(std::string_view name) {
  const auto* const alias =
      std::find_if(axis_aliases.begin(), axis_aliases.end(), [&](const AxisAlias& each) { return each.alias == name; });
  if (alias != axis_aliases.end()) name = alias->axis;
  for (const SpaceAxis& each : space_axes())
    if (each.axis->word() == name || each.axis->key == name) return &each;
  return nullptr;
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (true) {
    const std::size_t end = text.find(separator);
    result.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

/// One set of modules makes the variants of a block; two would be two searches.
void require_one_module_set(const SearchSpace& space, const std::string& where, const std::string& text) {
  const RecomputeModules* first = nullptr;
  for (const Recompute& one : space.recompute) {
    if (one.modules.empty()) continue;
    if (first != nullptr && one.modules != *first)
      throw InputError({where, "\"" + text.substr(0, 40) + "\"", "one set of modules in a search", ""});
    first = &one.modules;
  }
}

void add_value(const SpaceAxis& axis, const std::string& text, SearchSpace& space) {
  const std::string where = "--fix " + axis.name();
  if (text.empty() && axis.axis->kind == AxisKind::toggle) refuse_choice(where, text, {"on", "off"});
  Strategy with_value;
  read_axis(*axis.axis, where, text, with_value);
  axis.add(space, with_value);
  require_one_module_set(space, where, text);
}

}  // namespace

std::string_view search_axis(std::string_view name) {
  const SpaceAxis* const axis = find_axis(name);
  return axis == nullptr ? std::string_view() : axis->axis->word();
}

SearchSpace space_from_text(std::string_view fixes) {
  SearchSpace space;
  if (fixes.empty()) return space;
  std::vector<std::string> names;
  for (const SpaceAxis& axis : space_axes()) names.push_back(axis.name());
  std::set<const SpaceAxis*> fixed;
  for (const std::string_view fix : pieces(fixes, ',')) {
    const std::size_t equals = fix.find('=');
    const std::string_view name = fix.substr(0, equals);
    const SpaceAxis* const axis = find_axis(name);
    if (equals == std::string_view::npos || axis == nullptr)
      throw InputError({"--fix", "\"" + std::string(fix.substr(0, 40)) + "\"",
                        "axis=value with an axis of the strategy", nearest_text(name, names)});
    if (!fixed.insert(axis).second)
      throw InputError({"--fix", "names " + axis->name() + " twice", "each axis once; its values apart by |", ""});
    for (const std::string_view value : pieces(fix.substr(equals + 1), '|'))
      add_value(*axis, std::string(value), space);
  }
  return space;
}

}  // namespace plumbline
