#pragma once
/// \file plan_run.h: a run of a plan on this computer: on a thread of the window where one process and the CPU do, else
/// by `plan run` as a process of its own; who follows it is told the same of both.
///
/// Checked against: tests/gui/pages/run_page_test.cpp.

#include <QObject>
#include <QTemporaryDir>
#include <string>

#include "gui/pages/run/plan_process.h"
#include "gui/pages/run/plan_thread.h"

namespace plumbline::gui {

/// Its destructor stops a run and waits for its end.
class PlanRun : public QObject {
  Q_OBJECT

 public:
  explicit PlanRun(QObject* parent = nullptr);

  void start(const std::string& plan_text, int steps, RunRanks ranks = RunRanks::cpu_threads);
  /// As Ctrl-C: the run ends behind its step and is recorded.
  void stop();
  [[nodiscard]] bool is_running() const { return thread_.is_running() || process_.is_running(); }
  [[nodiscard]] PlanProcess& process() { return process_; }
  /// What the last run recorded, until this object ends.
  [[nodiscard]] QString record_file() const;

 Q_SIGNALS:
  void stepped(const plumbline::gui::RunLine& step);
  /// Ended by itself or stopped, with a record where a step was measured.
  void ended();
  /// In one line.
  void failed(const QString& words);

 private:
  template <class Runner>
  void follow(Runner& runner);

  QTemporaryDir folder_;  ///< outlives who writes into it
  PlanThread thread_;
  PlanProcess process_;
};

}  // namespace plumbline::gui
