#include "gui/pages/run/plan_run.h"

#include <QFile>

#include "runtime/mpi/launch_place.h"

namespace plumbline::gui {
namespace {

/// Ranks are processes where a launcher started the window among others.
bool runs_in_this_process(RunRanks ranks) {
  return ranks == RunRanks::cpu_threads && !launched_with_others(process_environment);
}

}  // namespace

template <class Runner>
void PlanRun::follow(Runner& runner) {
  connect(&runner, &Runner::stepped, this, &PlanRun::stepped);
  connect(&runner, &Runner::ended, this, &PlanRun::ended);
  connect(&runner, &Runner::failed, this, &PlanRun::failed);
}

PlanRun::PlanRun(QObject* parent) : QObject(parent) {
  follow(thread_);
  follow(process_);
}

QString PlanRun::record_file() const { return folder_.filePath("measured.json"); }

void PlanRun::start(const std::string& plan_text, int steps, RunRanks ranks) {
  if (is_running()) return;
  QFile::remove(record_file());
  const RunRequest request{plan_text, steps, ranks, folder_.filePath("plan.json"), record_file()};
  if (runs_in_this_process(ranks))
    thread_.start(request);
  else
    process_.start(request);
}

void PlanRun::stop() {
  if (thread_.is_running()) thread_.stop();
  if (process_.is_running()) process_.stop();
}

}  // namespace plumbline::gui
