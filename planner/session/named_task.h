#pragma once
/// \file named_task.h: the progress of one of several searches, under its name.

#include <string>

#include "planner/question/task.h"

namespace plumbline::session {

/// Stops with `task`, which must outlive it and hears of its progress as of "LABEL, PHASE".
[[nodiscard]] inline Task named_task(const std::string& label, const Task& task) {
  Task inner;
  inner.stop = task.stop;
  inner.progress = [&task, label](const TaskProgress& progress) {
    const std::string phase = label + ", " + std::string(progress.phase);
    TaskProgress named = progress;
    named.phase = phase;
    task.report(named);
  };
  return inner;
}

}  // namespace plumbline::session
