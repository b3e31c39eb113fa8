#include "cli/rank_list.h"

#include "cli/table.h"
#include "cli/terminal.h"
#include "core/plan/rank_map.h"

namespace plumbline {

std::string ranks_text(const Plan& plan) {
  std::vector<Column> columns{{"rank"}, {"host"}, {"device"}};
  for (const GroupLayout& axis : numbering_axes(plan.layout)) columns.push_back({axis.axis});
  Table table(columns);
  for (const RankPlace& place : rank_map(plan.layout, plan.machine)) {
    std::vector<std::string> cells{std::to_string(place.rank), std::to_string(place.host),
                                   std::to_string(place.device)};
    for (const std::int64_t coordinate : place.coordinates) cells.push_back(std::to_string(coordinate));
    table.add_row(std::move(cells));
  }
  return table.text(terminal_columns);
}

}  // namespace plumbline
