#include "cli/run/run_reports.h"

#include <unistd.h>

#include "core/base/escape.h"
#include "core/io/run_record_json.h"
#include "core/quantity/text.h"

namespace plumbline {

RunReports::RunReports(ReportedRun run, const ReportListeners& listeners)
    : listeners_(listeners), steps_(std::move(run)), descriptions_(listeners.described_ranks) {
  if (listeners_.wants_lines) lines_.emplace(STDOUT_FILENO, "standard output");
}

void RunReports::on_ready(std::int32_t rank, const DescribeRank& describe) {
  if (listeners_.described_ranks > 0) descriptions_.set(rank, describe());
}

void RunReports::on_place(const DescribePlace& describe) {
  if (listeners_.note != nullptr) listeners_.note->write(describe());
}

void RunReports::on_step(const StepRecord& step) {
  steps_.note(step);
  if (lines_)
    lines_->write(printable_lines(to_json_text(to_json(steps_.reported()), -1)));
  else
    listeners_.terminal.progress(steps_.line());
}

void RunReports::on_early_stop(const EarlyStoppingState& state) {
  listeners_.terminal.clear_progress();
  listeners_.terminal.note("plan: the held-out loss has not been below " + fixed(*state.lowest, 4) + " for " +
                           std::to_string(state.without_improvement) + " evaluations: the run ends here (--patience)");
}

}  // namespace plumbline
