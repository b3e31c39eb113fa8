#pragma once
/// \file plan_thread.h: a plan run in this process, on CPU ranks, followed from a thread of the window's.
///
/// Model: what a run throws is a line. It is stopped behind its step, and then recorded; its destructor waits for that,
/// which takes a step, or half a minute where a rank hangs (runtime/local/local_ranks.h).
/// Not modelled: what ends a process at once, such as a system without memory: a plan that needs more than the computer
/// has is refused before it runs.
/// Checked against: tests/gui/pages/run_page_test.cpp (steps, stops, refusals, a page that is closed).

#include <QObject>

#include "gui/background/latest_job.h"
#include "gui/io/run_line_json.h"
#include "gui/pages/run/run_request.h"

namespace plumbline::gui {

class PlanThread : public QObject {
  Q_OBJECT

 public:
  explicit PlanThread(QObject* parent = nullptr);

  void start(const RunRequest& request);
  /// As Ctrl-C: the run ends behind its step and is recorded.
  void stop() { job_.stop(); }
  [[nodiscard]] bool is_running() const { return job_.is_busy(); }

 Q_SIGNALS:
  void stepped(const plumbline::gui::RunLine& step);
  /// Ended by itself or stopped, with a record where a step was measured.
  void ended();
  /// In one line.
  void failed(const QString& words);

 private:
  LatestJob job_;
};

}  // namespace plumbline::gui
