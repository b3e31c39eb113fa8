#include "planner/search/conflict.h"

#include <set>

namespace plumbline {
namespace {

/// An axis that can be fixed, and how its values are written.
struct FixableAxis {
  std::string name;
  bool (*is_fixed)(const SearchSpace&);
  void (*copy)(const SearchSpace& from, SearchSpace& to);
  std::string (*values)(const SearchSpace&);
  std::string (*value)(const Strategy&);
};

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_same_v<T, Schedule> || std::is_same_v<T, ContextCommunication>)
    return std::string(to_text(value));
  if constexpr (std::is_same_v<T, ParameterPrefetch>) return value == ParameterPrefetch::on ? "on" : "off";
  if constexpr (std::is_same_v<T, SequenceParallel>) return value == SequenceParallel::on ? "on" : "off";
  if constexpr (std::is_integral_v<T>) return std::to_string(value);
}

template <auto List, auto Member>
FixableAxis axis(std::string name) {
  return {std::move(name), [](const SearchSpace& space) { return !(space.*List).empty(); },
          [](const SearchSpace& from, SearchSpace& to) { to.*List = from.*List; },
          [](const SearchSpace& space) {
            std::string text;
            for (const auto value : space.*List) text += (text.empty() ? "" : "|") + text_of(value);
            return text;
          },
          [](const Strategy& s) { return text_of(s.*Member); }};
}

/// Those first that follow from others.
std::vector<FixableAxis> fixable_axes() {
  using Space = SearchSpace;
  return {axis<&Space::shard_groups, &Strategy::shard_group>("shard-group"),
          axis<&Space::prefetch, &Strategy::prefetch>("prefetch"),
          axis<&Space::layers_per_unit, &Strategy::layers_per_unit>("layers-per-unit"),
          axis<&Space::zero_stages, &Strategy::zero_stage>("zero"),
          axis<&Space::sequence_parallel, &Strategy::sequence_parallel>("sequence-parallel"),
          axis<&Space::virtual_stages, &Strategy::virtual_stages>("virtual-stages"),
          axis<&Space::schedules, &Strategy::schedule>("schedule"),
          axis<&Space::expert_tensor_parallel, &Strategy::expert_tensor_parallel>("etp"),
          axis<&Space::expert_parallel, &Strategy::expert_parallel>("ep"),
          axis<&Space::data_parallel, &Strategy::data_parallel>("dp"),
          axis<&Space::context_communication, &Strategy::context_communication>("cp-comm"),
          axis<&Space::context_parallel, &Strategy::context_parallel>("cp"),
          axis<&Space::pipeline_stages, &Strategy::pipeline_stages>("pp"),
          axis<&Space::tensor_parallel, &Strategy::tensor_parallel>("tp")};
}

/// The values of an axis that some strategy of the space has, in the order of enumeration; a few of them.
std::vector<std::string> possible(const Question& question, const SearchSpace& space, const FixableAxis& axis) {
  constexpr std::size_t most = 12;
  std::vector<std::string> values;
  std::set<std::string> seen;
  const SpaceEnumerator enumerator(question, space);
  enumerator.for_each_family([&](const Strategy& family, const Violation*, std::int64_t) {
    if (values.size() == most) return;
    for (const Strategy& strategy : enumerator.leaves(family))
      if (std::string value = axis.value(strategy); seen.insert(value).second && values.size() < most)
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
  for (const FixableAxis& axis : fixable_axes()) {
    if (!axis.is_fixed(space)) continue;
    const std::string given = axis.name + "=" + axis.values(space);
    all += (all.empty() ? "" : ",") + given;
    SearchSpace alone = free;
    axis.copy(space, alone);
    if (possible(question, alone, axis).empty())
      return {"--fix", none + given, one_of(possible(question, free, axis)), ""};
  }
  for (const FixableAxis& axis : fixable_axes()) {
    if (!axis.is_fixed(space)) continue;
    SearchSpace others = space;
    axis.copy({}, others);
    if (const std::vector<std::string> values = possible(question, others, axis); !values.empty())
      return {"--fix", none + axis.name + "=" + axis.values(space) + " alongside the other values", one_of(values), ""};
  }
  return {"--fix", none + all + " together", "fewer values, or those of a plan that search finds without them", ""};
}

}  // namespace plumbline
