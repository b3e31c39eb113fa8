#include "planner/search/space_axes.h"

#include <algorithm>

namespace plumbline {
namespace {

template <auto List, auto Member>
SpaceAxis axis(std::string_view flag) {
  return {.axis = &strategy_axis(flag),
          .is_fixed = [](const SearchSpace& space) { return !(space.*List).empty(); },
          .copy = [](const SearchSpace& from, SearchSpace& to) { to.*List = from.*List; },
          .add = [](SearchSpace& space, const Strategy& s) { (space.*List).push_back(s.*Member); },
          .allows =
              [](const SearchSpace& space, const Strategy& s) {
                const auto& list = space.*List;
                return list.empty() || std::find(list.begin(), list.end(), s.*Member) != list.end();
              },
          .values =
              [](const SearchSpace& space) {
                std::vector<Strategy> strategies((space.*List).size());
                for (std::size_t i = 0; i < strategies.size(); ++i) strategies[i].*Member = (space.*List)[i];
                return strategies;
              }};
}

}  // namespace

std::string SpaceAxis::values_text(const SearchSpace& space) const {
  std::string text;
  for (const Strategy& one : values(space)) text += (text.empty() ? "" : "|") + axis->text(one);
  return text;
}

const std::vector<SpaceAxis>& space_axes() {
  using Space = SearchSpace;
  static const std::vector<SpaceAxis> axes{
      axis<&Space::tensor_parallel, &Strategy::tensor_parallel>("--tp"),
      axis<&Space::pipeline_stages, &Strategy::pipeline_stages>("--pp"),
      axis<&Space::context_parallel, &Strategy::context_parallel>("--cp"),
      axis<&Space::context_communication, &Strategy::context_communication>("--cp-comm"),
      axis<&Space::expert_parallel, &Strategy::expert_parallel>("--ep"),
      axis<&Space::expert_tensor_parallel, &Strategy::expert_tensor_parallel>("--etp"),
      axis<&Space::data_parallel, &Strategy::data_parallel>("--dp"),
      axis<&Space::virtual_stages, &Strategy::virtual_stages>("--virtual-stages"),
      axis<&Space::schedules, &Strategy::schedule>("--schedule"),
      axis<&Space::micro_batch_sizes, &Strategy::micro_batch>("--micro-batch"),
      axis<&Space::zero_stages, &Strategy::zero_stage>("--zero"),
      axis<&Space::shard_groups, &Strategy::shard_group>("--shard-group"),
      axis<&Space::prefetch, &Strategy::prefetch>("--prefetch"),
      axis<&Space::layers_per_unit, &Strategy::layers_per_unit>("--layers-per-unit"),
      axis<&Space::sequence_parallel, &Strategy::sequence_parallel>("--sequence-parallel"),
      axis<&Space::recompute, &Strategy::recompute>("--recompute")};
  return axes;
}

}  // namespace plumbline
