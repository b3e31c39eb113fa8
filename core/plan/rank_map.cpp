#include "core/plan/rank_map.h"

#include <algorithm>

#include "core/plan/axis.h"

namespace plumbline {

std::vector<GroupLayout> numbering_axes(const Layout& layout) {
  std::vector<GroupLayout> axes;
  for (const GroupLayout& group : layout.groups) {
    const bool orders =
        std::find(layout.rank_order.begin(), layout.rank_order.end(), group.axis) != layout.rank_order.end();
    const bool is_expert = group.axis.starts_with("expert") && group.axis != "expert_gradient" && group.size > 1;
    if (orders || is_expert) axes.push_back(group);
  }
  return axes;
}

std::int64_t coordinate(std::int64_t rank, const GroupLayout& axis) {
  return rank / std::max<std::int64_t>(1, axis.stride) % std::max<std::int64_t>(1, axis.size);
}

namespace {

/// Host and device of a rank.
RankPlace place_of(std::int64_t rank, const MachineReference& machine) {
  std::int64_t first_rank = 0;
  std::int64_t first_host = 0;
  for (const NodeKind& kind : machine.kinds) {
    const std::int64_t within = rank - first_rank;
    if (within < kind.nodes * kind.devices_per_node)
      return {rank, first_host + within / kind.devices_per_node, within % kind.devices_per_node, kind.device, 0, {}};
    first_rank += kind.nodes * kind.devices_per_node;
    first_host += kind.nodes;
  }
  const std::int64_t per_host = std::max<std::int64_t>(1, machine.devices_per_node);
  return {rank, rank / per_host, rank % per_host, {}, 0, {}};
}

}  // namespace

std::vector<RankPlace> rank_map(const Layout& layout, const MachineReference& machine) {
  const std::vector<GroupLayout> axes = numbering_axes(layout);
  const auto pipeline = std::find_if(layout.groups.begin(), layout.groups.end(),
                                     [](const GroupLayout& group) { return group.axis == to_text(Axis::pipeline); });
  std::vector<RankPlace> places;
  for (std::int64_t rank = 0; rank < machine.devices; ++rank) {
    RankPlace& place = places.emplace_back(place_of(rank, machine));
    if (pipeline != layout.groups.end()) place.representative = coordinate(rank, *pipeline);
    for (const GroupLayout& axis : axes) place.coordinates.push_back(coordinate(rank, axis));
  }
  return places;
}

}  // namespace plumbline
