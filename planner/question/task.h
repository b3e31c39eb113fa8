#pragma once
/// \file task.h: how whoever starts long work follows it and ends it early.
///
/// A stop is a request: work that is stopped answers soon with what it has found and says that it is not complete.
/// Callbacks come on one thread at a time, though not always on the one that started the work.

#include <cstdint>
#include <functional>
#include <string_view>

#include "planner/question/stop_request.h"

namespace plumbline {

struct ReportedStep;

struct TaskProgress {
  std::string_view phase;  ///< "bounding", "pricing", "changes", ...
  std::int64_t done = 0;
  std::int64_t total = 0;       ///< 0: not known before the end
  double best_step_time_s = 0;  ///< of a search; 0: none yet
};

struct Task {
  StopRequest stop;
  std::function<void(const TaskProgress&)> progress;         ///< may be empty
  std::function<void(std::string_view phase)> end_of_phase;  ///< may be empty
  std::function<void(const ReportedStep& step)> step = {};   ///< of a run: after each; may be empty

  [[nodiscard]] bool is_stopped() const { return stop.stop_requested(); }
  void report(const TaskProgress& now) const {
    if (progress) progress(now);
  }
  void end(std::string_view phase) const {
    if (end_of_phase) end_of_phase(phase);
  }
};

}  // namespace plumbline
