#pragma once
/// \file run_request.h: what is asked of a run, by a thread of the window or by `plan run` as a process of its own.
///
/// Checked against: tests/gui/pages/run_page_test.cpp.

#include <QString>
#include <string>
#include <utility>
#include <vector>

#include "gui/pages/run/run_ranks.h"

namespace plumbline::gui {

struct RunRequest {
  std::string plan_text;  ///< of a plan file
  int steps = 1;
  RunRanks ranks = RunRanks::cpu_threads;
  QString plan_file;    ///< where a process reads the plan
  QString record_file;  ///< to be written when the run ends; it is not there before
};

/// Flags of the training, with their texts: all others are as the plan's recipe and `plan run` have them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> training_texts(const RunRequest& request);

}  // namespace plumbline::gui
