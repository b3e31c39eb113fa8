#include "gui/window/screenshots.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QPixmap>
#include <cstdio>

#include "gui/dock/machine_dialog.h"
#include "gui/dock/machine_model.h"
#include "gui/dock/question_dock.h"
#include "gui/export/launch_dialog.h"
#include "gui/files/examples.h"
#include "gui/pages/run/run_page.h"
#include "gui/pages/start/start_page.h"
#include "gui/window/main_window.h"
#include "gui/window/menus.h"

namespace plumbline::gui {
namespace {

constexpr qint64 patience_ms = 600'000;  // a run of a computer that does much else
constexpr qint64 settle_ms = 60;         // layouts and queued paints

template <class Holds>
bool wait_until(const Holds& holds) {
  QElapsedTimer timer;
  timer.start();
  while (!holds() && timer.elapsed() < patience_ms) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
  QElapsedTimer settled;
  settled.start();
  while (settled.elapsed() < settle_ms) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
  return holds();
}

bool fail(const QString& words) {
  std::fprintf(stderr, "plumbline: %s\n", words.toUtf8().constData());
  return false;
}

bool shoot(QWidget& window, const QString& folder, const QString& name) {
  const QString file = QDir(folder).filePath(name + ".png");
  return window.grab().save(file) || fail(file + ": cannot be written");
}

bool show_question(MainWindow& window, const QString& plan_file) {
  if (plan_file.isEmpty())
    window.question().replace(examples().front().form, examples().front().title);
  else
    window.open(plan_file);
  const bool is_shown =
      wait_until([&] { return !window.is_busy() && (window.plan() != nullptr || !window.message().isEmpty()); });
  if (!window.message().isEmpty()) return fail(window.message());
  return is_shown || fail(QObject::tr("no plan was found in ten minutes"));
}

/// The constraints, and a value that is refused where it stands.
bool shoot_question(MainWindow& window, const QString& folder) {
  window.bring_to_front("plans");
  window.question().set(field_of("--tp"), "<=8");
  window.question().set(field_of("--recompute"), "selectiv");
  wait_until([&] { return !window.is_busy(); });
  window.dock().reveal(Field::budget);
  wait_until([] { return true; });
  const bool is_written = shoot(window, folder, "question");
  window.question().changes().undo();
  window.question().changes().undo();
  return is_written;
}

/// The dialogs of the question's cluster, with an edited number, and of launch files.
bool shoot_dialogs(MainWindow& window, const QString& folder) {
  window.dock().show_machine();
  MachineDialog& machine = *window.dock().machine_dialog();
  MachineModel& numbers = machine.numbers();
  for (int row = 0; row < numbers.rowCount(); ++row)
    if (numbers.index(row, MachineModel::name).data().toString() == "memory bandwidth")
      numbers.setData(numbers.index(row, MachineModel::value), "2 TB/s", Qt::EditRole);
  wait_until([] { return true; });
  const bool is_written = shoot(machine, folder, "cluster");
  machine.close();
  numbers.reset_all();
  window.search().abandon();
  LaunchDialog* const launch = show_launch_files(window);
  if (launch == nullptr) return fail(window.message());
  wait_until([&] { return launch->is_complete(); });
  const bool is_launch_written = shoot(*launch, folder, "launch");
  launch->close();
  return is_written && is_launch_written;
}

/// A plan of this computer is run for its picture.
void start_run(RunPage& page, const PricedPlan& plan) {
  constexpr int steps = 20;
  if (plan.answer.plan.machine.name != "this-computer") return;
  page.set_steps(steps);
  page.start();
}

}  // namespace

int write_screenshots(MainWindow& window, const QString& folder, const QString& plan_file) {
  if (!QDir().mkpath(folder)) return fail(folder + ": cannot be made") ? 0 : 1;
  window.show();
  if (auto* const start = qobject_cast<StartPage*>(window.page("start"))) start->show_recent({});  // nobody's own files
  wait_until([] { return true; });
  if (!shoot(window, folder, "start") || !show_question(window, plan_file)) return 1;
  for (Page* const page : window.pages()) {
    if (page->id() == "start") continue;
    window.bring_to_front(page->id());
    if (auto* const run = qobject_cast<RunPage*>(page); run != nullptr && window.plan() != nullptr)
      start_run(*run, *window.plan());
    if (!wait_until([&] { return !window.is_busy() && page->is_complete(); }))
      return fail(page->id() + ": not complete in ten minutes") ? 0 : 1;
    if (!shoot(window, folder, page->id())) return 1;
  }
  return shoot_dialogs(window, folder) && shoot_question(window, folder) ? 0 : 1;
}

}  // namespace plumbline::gui
