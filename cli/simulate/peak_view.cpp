#include "cli/simulate/peak_view.h"

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/quantity/text.h"
#include "planner/present/peak_tables.h"

namespace plumbline {

std::string peak_text(const SimulatedPlan& simulated) {
  const auto rank = static_cast<std::size_t>(simulated.simulation.heaviest_rank);
  const StageReport report = stage_reports(simulated.program, simulated.simulation)[rank];
  std::string peak = gib_text(simulated.simulation.peak_memory(), 2) + " GiB on stage " + std::to_string(rank) +
                     " at " + to_text(to_seconds(report.peak_at));
  if (!report.peak_action.empty()) peak += ", when " + report.peak_action + " starts";
  const present::Table largest = present::largest_buffer_table(report.alive);
  return "peak memory  " + wrapped(peak, terminal_columns(), 13, 13) + "\n" +
         indented_text(present::peak_class_table(simulated.simulation.memory[rank].memory)) +
         (largest.rows.empty() ? "" : "\n" + indented_text(largest));
}

}  // namespace plumbline
