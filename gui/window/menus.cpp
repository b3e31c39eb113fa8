#include "gui/window/menus.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QKeySequence>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <functional>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "core/io/output_file.h"
#include "gui/dock/question_dock.h"
#include "gui/export/launch_dialog.h"
#include "gui/export/picture_file.h"
#include "gui/export/plan_export.h"
#include "gui/export/replace_question.h"
#include "gui/pages/run/run_page.h"
#include "gui/question/command_text.h"
#include "gui/tables/csv.h"
#include "gui/text.h"
#include "gui/window/keys_dialog.h"
#include "gui/window/main_window.h"
#include "gui/window/style.h"

namespace plumbline::gui {
namespace {

/// What a failed write throws is said in the window.
template <class Write>
bool written(MainWindow& window, const Write& write) {
  try {
    write();
    return true;
  } catch (const std::exception& error) {
    window.say(QString::fromUtf8(error.what()));
    return false;
  }
}

template <class Slot>
QAction* add(QMenu& menu, const QString& text, const QKeySequence& keys, const Slot& slot) {
  QAction* const action = menu.addAction(text);
  action->setShortcut(keys);
  QObject::connect(action, &QAction::triggered, &menu, slot);
  return action;
}

QString asked_file(MainWindow& window, const QString& title, const QString& name, const QString& filter) {
  return QFileDialog::getSaveFileName(&window, title, name, filter);
}

void add_file_menu(MainWindow& window) {
  QMenu& menu = *window.menuBar()->addMenu(QObject::tr("&File"));
  add(menu, QObject::tr("&Open..."), QKeySequence::Open, [&window] { browse_for_file(window); });
  add(menu, QObject::tr("&Save session..."), QKeySequence::Save, [&window] {
    const QString file = asked_file(window, QObject::tr("Save session"), "question.plumbline", "*.plumbline");
    if (!file.isEmpty()) window.save_session(file);
  });
  menu.addSeparator();
  add(menu, QObject::tr("Export &plan..."), QKeySequence("Ctrl+E"), [&window] {
    const QString file = asked_file(window, QObject::tr("Export plan"), "plan.json", "*.json");
    if (!file.isEmpty()) export_plan(window, file);
  });
  add(menu, QObject::tr("Export &launch files..."), QKeySequence("Ctrl+L"), [&window] { show_launch_files(window); });
  add(menu, QObject::tr("Export t&race..."), QKeySequence("Ctrl+Shift+T"), [&window] {
    const QString file = asked_file(window, QObject::tr("Export trace for Perfetto"), "trace.json", "*.json");
    if (!file.isEmpty()) export_trace(window, file);
  });
  add(menu, QObject::tr("Export p&icture..."), QKeySequence("Ctrl+Shift+E"), [&window] {
    const QString file = asked_file(window, QObject::tr("Export picture"), window.page_in_front()->id() + ".svg",
                                    "SVG (*.svg);;PNG (*.png)");
    if (!file.isEmpty()) export_picture(window, file);
  });
  add(menu, QObject::tr("Export &tables..."), QKeySequence("Ctrl+T"), [&window] {
    const QString folder = QFileDialog::getExistingDirectory(&window, QObject::tr("Folder of the CSV files"));
    if (!folder.isEmpty()) export_tables(window, folder);
  });
  add(menu, QObject::tr("Save r&ecord..."), {}, [&window] {
    const QString file = asked_file(window, QObject::tr("Save the record of the run"), "measured.json", "*.json");
    if (!file.isEmpty()) save_record(window, file);
  });
  menu.addSeparator();
  add(menu, QObject::tr("&Quit"), QKeySequence("Ctrl+Q"), [&window] { window.close(); });
}

void copy_question(MainWindow& window, const std::function<std::string(const QuestionForm&)>& text_of) {
  (void)written(window, [&] { QApplication::clipboard()->setText(qt(text_of(window.question().form()))); });
}

void add_edit_menu(MainWindow& window) {
  QMenu& menu = *window.menuBar()->addMenu(QObject::tr("&Edit"));
  QUndoStack& changes = window.question().changes();
  QAction* const undo = changes.createUndoAction(&menu, QObject::tr("&Undo"));
  undo->setShortcut(QKeySequence::Undo);
  QAction* const redo = changes.createRedoAction(&menu, QObject::tr("&Redo"));
  redo->setShortcuts({QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")});
  menu.addActions({undo, redo});
  menu.addSeparator();
  add(menu, QObject::tr("Copy question as &command"), QKeySequence("Ctrl+Shift+C"),
      [&window] { copy_question(window, search_command); });
  add(menu, QObject::tr("Copy question as &Python"), {}, [&window] {
    copy_question(window,
                  [](const QuestionForm& form) { return "import plumbline\n\nfound = " + search_python(form); });
  });
  add(menu, QObject::tr("Paste comman&d as question"), QKeySequence("Ctrl+Shift+V"),
      [&window] { paste_question(window, QApplication::clipboard()->text()); });
  menu.addSeparator();
  add(menu, QObject::tr("&Numbers of the cluster..."), QKeySequence("Ctrl+M"),
      [&window] { window.dock().show_machine(); });
  add(menu, QObject::tr("S&top the search"), QKeySequence("Esc"), [&window] { window.search().cancel(); });
}

void add_view_menu(MainWindow& window) {
  QMenu& menu = *window.menuBar()->addMenu(QObject::tr("&View"));
  int number = 1;
  for (Page* const page : window.pages()) {
    add(menu, page->title(), QKeySequence(QString("Ctrl+%1").arg(number % 10)),
        [&window, page] { window.bring_to_front(page->id()); });
    ++number;
  }
  menu.addSeparator();
  QAction* const question = window.findChild<QDockWidget*>()->toggleViewAction();
  question->setShortcut(QKeySequence("F9"));
  menu.addAction(question);
  QAction* const dark = menu.addAction(QObject::tr("&Dark"));
  dark->setCheckable(true);
  dark->setChecked(&palette_of(window) == &palette_of(Scheme::dark));
  dark->setShortcut(QKeySequence("Ctrl+D"));
  QObject::connect(dark, &QAction::toggled, &menu,
                   [](bool is_dark) { apply_scheme(*qApp, is_dark ? Scheme::dark : Scheme::light); });
}

void add_help_menu(MainWindow& window) {
  QMenu& menu = *window.menuBar()->addMenu(QObject::tr("&Help"));
  add(menu, QObject::tr("&Keys..."), QKeySequence("F1"), [&window] {
    auto* const keys = new KeysDialog(*window.menuBar(), &window);
    keys->setAttribute(Qt::WA_DeleteOnClose);
    keys->show();
  });
  add(menu, QObject::tr("&About Plumbline"), {}, [&window] {
    QMessageBox::about(
        &window, QObject::tr("Plumbline"),
        QObject::tr("Plumbline %1\nWhich configuration to launch, and whether the answer can be trusted.\n"
                    "Apache-2.0. This window uses Qt %2 under the LGPL-3.0.")
            .arg(QStringLiteral(PLUMBLINE_VERSION), QString::fromLatin1(qVersion())));
  });
}

}  // namespace

void make_menus(MainWindow& window) {
  add_file_menu(window);
  add_edit_menu(window);
  add_view_menu(window);
  add_help_menu(window);
}

void browse_for_file(MainWindow& window) {
  const QString file = QFileDialog::getOpenFileName(
      &window, QObject::tr("Open"), {}, QObject::tr("All that it reads (*.json *.plumbline);;All files (*)"));
  if (!file.isEmpty()) window.open(file);
}

bool export_picture(MainWindow& window, const QString& file) {
  QWidget* const picture = window.page_in_front()->picture();
  if (picture == nullptr) {
    window.say(QObject::tr("The page %1 has no picture to export.").arg(window.page_in_front()->title()));
    return false;
  }
  return written(window, [&] { write_picture(*picture, file); });
}

bool export_tables(MainWindow& window, const QString& folder) {
  const std::vector<NamedTable> tables = window.page_in_front()->tables();
  if (tables.empty()) {
    window.say(QObject::tr("The page %1 has no table to export.").arg(window.page_in_front()->title()));
    return false;
  }
  std::vector<LaunchFile> files;
  for (const NamedTable& one : tables) files.push_back({one.name + ".csv", csv_text(one.table)});
  return written(window, [&] {
    QStringList others;
    for (const std::string& name : session::other_files(files, folder.toStdString())) others.append(qt(name));
    if (!may_replace(window, folder, others)) throw EnvironmentError("Nothing was written.");
    for (const LaunchFile& file : files)
      write_output_file(QDir(folder).filePath(qt(file.name)).toStdString(), file.text);
  });
}

bool save_record(MainWindow& window, const QString& file) {
  auto* const page = qobject_cast<RunPage*>(window.page("run"));
  const QString record = page->run().record_file();
  if (page->run().is_running() || !QFile::exists(record)) {
    window.say(QObject::tr("There is no record: no run of this window has ended with one."));
    return false;
  }
  return written(window, [&] {
    write_output_file(file.toStdString(), read_text_file(record.toStdString(), "the record of a run"));
  });
}

bool paste_question(MainWindow& window, const QString& command) {
  return written(window, [&] {
    if (!is_command(command.toStdString()))
      throw InputError({"clipboard", "holds no question", "a line such as plan search --model llama-3-8b ...", ""});
    window.question().replace(form_of_command(command.toStdString()), QObject::tr("Command line"));
    window.say({});
  });
}

LaunchDialog* show_launch_files(MainWindow& window) {
  if (window.plan() == nullptr) {
    window.say(QObject::tr("There is no plan to export."));
    return nullptr;
  }
  auto* const dialog = new LaunchDialog(window.plan(), &window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->show();
  return dialog;
}

void export_trace(MainWindow& window, const QString& file) {
  if (window.plan() == nullptr) return window.say(QObject::tr("There is no plan to export."));
  window.exports().start(
      [&window, file, plan = window.plan()](const LatestJob::Context& context) -> LatestJob::Delivery {
        Task task;
        task.stop = context.stop();
        const std::string text = simulated_trace_text(*plan, task);
        if (!text.empty()) write_output_file(file.toStdString(), text);
        return [&window] { window.say({}); };
      });
}

bool export_plan(MainWindow& window, const QString& file) {
  if (window.plan() == nullptr) {
    window.say(QObject::tr("There is no plan to export."));
    return false;
  }
  return written(window, [&] { write_output_file(file.toStdString(), plan_text(*window.plan())); });
}

}  // namespace plumbline::gui
