#include "cli/estimate/rank_list.h"

#include "cli/output/table.h"
#include "planner/present/plan_tables.h"

namespace plumbline {

std::string ranks_text(const Plan& plan) { return text(present::rank_table(plan)); }

}  // namespace plumbline
