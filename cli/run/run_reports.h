#pragma once
/// \file run_reports.h: what `run` hears of a training while it goes on, and says at once: steps, an early stop; and
/// the signal that asks it to end.

#include <optional>

#include "cli/interruption.h"
#include "cli/output/terminal.h"
#include "core/io/line_writer.h"
#include "runtime/run/rank_description.h"
#include "runtime/run/run_observer.h"
#include "runtime/run/step_report.h"
#include "runtime/run/watched_process.h"

namespace plumbline {

/// To whom a run is reported.
struct ReportListeners {
  Terminal& terminal;
  const Interruption& interruption;
  SharedNote* note = nullptr;        ///< where a rank writes where it is; null: nobody watches over its process
  bool wants_lines = false;          ///< one JSON object per step on standard output, instead of lines of progress
  std::int64_t described_ranks = 0;  ///< whose descriptions are kept; 0: nobody's
};

class RunReports : public RunObserver {
 public:
  RunReports(ReportedRun run, const ReportListeners& listeners);

  void on_ready(std::int32_t rank, const DescribeRank& describe) override;
  void on_place(const DescribePlace& describe) override;
  void on_step(const StepRecord& step) override;
  void on_generated(const std::vector<std::int32_t>& tokens) override { steps_.note_generated(tokens); }
  void on_early_stop(const EarlyStoppingState& state) override;
  [[nodiscard]] int stop_signal() override { return listeners_.interruption.signal(); }
  void on_stop(int signal) override { stopped_by_ = signal; }

  /// The signal that ended the run; 0: none.
  [[nodiscard]] int stopped_by() const { return stopped_by_; }
  /// The file of --describe.
  [[nodiscard]] std::string descriptions() const { return descriptions_.text(); }
  /// Steps as JSON; nothing where they are lines of progress.
  [[nodiscard]] std::optional<LineWriter>& lines() { return lines_; }

 private:
  ReportListeners listeners_;
  StepReport steps_;
  std::optional<LineWriter> lines_;
  RankDescriptions descriptions_;
  int stopped_by_ = 0;
};

}  // namespace plumbline
