#pragma once
/// \file nearest_runs.h: measured runs that are most like a plan, and how far off this program is on them.
///
/// Answers: published runs on the same device with what is predicted of them, as `plan validate` does
/// (planner/validate); time and memory of a run are two of them.
/// Model: the distance is the sum over the sizes that calibrations look at (GPUs, hidden width, sequence, tokens of a
/// micro-batch, degrees of parallelism) of how often one is doubled to reach the other, and 2 each for another kind of
/// network or number format, which is a choice of order and no measure. Runs that prove less (inferred, doubtful) are
/// left out. Not modelled: which sizes matter more.
/// Checked against: tests/gui/pages/step/nearest_runs_test.cpp (the errors of `plan validate`).

#include <map>
#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/question/question.h"
#include "planner/question/stop_request.h"
#include "planner/validate/validate.h"

namespace plumbline::gui {

/// Runs of a device, priced once.
class MeasuredRuns {
 public:
  /// Of a device of the catalogue. Where it was stopped: those so far, priced again next time.
  [[nodiscard]] std::vector<RunOutcome> of_device(const std::string& device, const StopRequest& stop);

 private:
  std::map<std::string, std::vector<RunOutcome>> of_device_;
};

[[nodiscard]] double distance(const RunFeatures& one, const RunFeatures& other);

inline constexpr std::size_t most_near_runs = 8;
/// Nearest first, at most `most_near_runs`.
[[nodiscard]] std::vector<RunOutcome> nearest(std::vector<RunOutcome> runs, const RunFeatures& features);

[[nodiscard]] present::Table near_runs_table(const std::vector<RunOutcome>& runs);

}  // namespace plumbline::gui
