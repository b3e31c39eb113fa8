#include "cli/rank_list.h"

#include <algorithm>

#include "cli/table.h"
#include "cli/terminal.h"

namespace plumbline {
namespace {

/// The axes that number the ranks, and the experts' where there are any.
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

struct Seat {
  std::int64_t host;
  std::int64_t device;
};

Seat seat_of(std::int64_t rank, const MachineReference& machine) {
  const std::int64_t per_node = std::max<std::int64_t>(1, machine.devices_per_node);
  return {rank / per_node, rank % per_node};
}

}  // namespace

std::string ranks_text(const Plan& plan) {
  const std::vector<GroupLayout> axes = numbering_axes(plan.layout);
  std::vector<Column> columns{{"rank"}, {"host"}, {"device"}};
  for (const GroupLayout& axis : axes) columns.push_back({axis.axis});
  Table table(columns);
  for (std::int64_t rank = 0; rank < plan.machine.devices; ++rank) {
    const Seat seat = seat_of(rank, plan.machine);
    std::vector<std::string> cells{std::to_string(rank), std::to_string(seat.host), std::to_string(seat.device)};
    for (const GroupLayout& axis : axes) cells.push_back(std::to_string(coordinate(rank, axis)));
    table.add_row(std::move(cells));
  }
  return table.text(terminal_columns);
}

Json ranks_json(const Plan& plan) {
  const std::vector<GroupLayout> axes = numbering_axes(plan.layout);
  Json::Array ranks;
  for (std::int64_t rank = 0; rank < plan.machine.devices; ++rank) {
    const Seat seat = seat_of(rank, plan.machine);
    Json::Object coordinates;
    for (const GroupLayout& axis : axes) coordinates.emplace_back(axis.axis, coordinate(rank, axis));
    ranks.emplace_back(Json::Object{
        {"rank", rank}, {"host", seat.host}, {"device", seat.device}, {"coordinates", std::move(coordinates)}});
  }
  return ranks;
}

}  // namespace plumbline
