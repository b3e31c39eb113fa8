#pragma once
/// \file plan_process.h: `plan run` as a process of its own, so that whatever happens there leaves the window alive.
///
/// For ranks that are no threads of the CPU, and where a launcher started the window (plan_run.h).
/// Checked against: tests/gui/pages/run_page_test.cpp (a run, a child that fails, that is killed, that is not there).

#include <QObject>
#include <QProcess>

#include "gui/io/run_line_json.h"
#include "gui/pages/run/run_request.h"

namespace plumbline::gui {

class PlanProcess : public QObject {
  Q_OBJECT

 public:
  explicit PlanProcess(QObject* parent = nullptr);
  ~PlanProcess() override;

  /// Beside this program, where nothing else is set.
  void set_program(const QString& program) { program_ = program; }
  void start(const RunRequest& request);
  /// As Ctrl-C: the run ends behind its step and is recorded.
  void stop();
  [[nodiscard]] bool is_running() const { return process_.state() != QProcess::NotRunning; }

 Q_SIGNALS:
  void stepped(const plumbline::gui::RunLine& step);
  /// Ended by itself or stopped, with a record where a step was measured.
  void ended();
  /// In one line.
  void failed(const QString& words);

 private:
  void read_lines();
  void finish(int code, QProcess::ExitStatus status);
  void fail(const QString& words);

  QString program_;
  QProcess process_;
  QByteArray rest_;  ///< of a line that is not whole yet
  QByteArray errors_;
  bool is_stopped_ = false;
};

}  // namespace plumbline::gui
