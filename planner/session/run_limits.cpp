#include "planner/session/run_limits.h"

#include <cstdint>

#include "core/io/value_text.h"

namespace plumbline::session {

RunLimits run_limits(const std::optional<std::string>& days, const std::optional<std::string>& budget) {
  RunLimits limits;
  if (days) limits.days = real_number("--days", *days, least_days, most_days);
  if (budget)
    limits.budget = Dollars(static_cast<double>(whole_number(
        "--budget", *budget, static_cast<std::int64_t>(least_dollars), static_cast<std::int64_t>(most_dollars))));
  return limits;
}

}  // namespace plumbline::session
