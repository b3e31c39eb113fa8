#pragma once
/// \file search_audit.h: the plans of a search that its audit tells of, which are all of them.

#include "planner/search/search.h"

namespace plumbline {

[[nodiscard]] inline std::int64_t accounted(const SearchAudit& audit) {
  std::int64_t sum = audit.memory + audit.bound + audit.dominated + audit.infeasible + audit.solved + audit.unvisited;
  for (const auto& [rule, count] : audit.illegal) sum += count;
  return sum;
}

}  // namespace plumbline
