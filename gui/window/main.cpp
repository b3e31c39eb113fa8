// plumbline: the window.
#include <QApplication>
#include <QCommandLineOption>
#include <QCommandLineParser>
#include <QIcon>
#include <QSettings>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gui/window/ending_signals.h"
#include "gui/window/main_window.h"
#include "gui/window/screenshots.h"
#include "gui/window/style.h"
#include "gui/window/window_memory.h"
#include "jobs/run_in_process.h"

namespace {

bool is_given(int argc, char** argv, const char* flag) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], flag) == 0) return true;
  return false;
}

int run(QApplication& application) {
  using namespace plumbline::gui;
  QCommandLineParser parser;
  parser.setApplicationDescription("Explore plans of training runs: which configuration to launch, and why.");
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption screenshots("screenshots", "Write a picture of every page to DIR and end.", "DIR");
  const QCommandLineOption dark("dark", "In dark colours.");
  parser.addOptions({screenshots, dark});
  parser.addPositionalArgument("file", "A plan, a session, a config.json, a machine or the record of a run.", "[file]");
  parser.process(application);
  QSettings settings;
  const bool remembers = !parser.isSet(screenshots);
  const Scheme usual = remembers ? recalled_scheme(settings).value_or(desktop_scheme()) : desktop_scheme();
  apply_scheme(application, parser.isSet(dark) ? Scheme::dark : usual);
  QApplication::setWindowIcon(QIcon(":/plumbline.svg"));
  MainWindow window;
  const QStringList files = parser.positionalArguments();
  if (parser.isSet(screenshots)) return write_screenshots(window, parser.value(screenshots), files.value(0));
  recall(window, settings);
  follow_ending_signals(window, [] { QApplication::quit(); });
  window.show();
  if (files.isEmpty())
    recall_question(window, settings);
  else
    window.open(files.front());
  const int code = QApplication::exec();
  remember(window, settings);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  // Pictures are the same on every computer, with or without a screen.
  if (is_given(argc, argv, "--screenshots") || is_given(argc, argv, "--help") || is_given(argc, argv, "--version"))
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QApplication::setApplicationName("plumbline");
  QApplication::setOrganizationName("plumbline");
  QApplication::setApplicationVersion(PLUMBLINE_VERSION);
  QApplication::setDesktopFileName("io.github.plumbline.Plumbline");
  const int code = run(application);
  // The thread of a rank that hangs still reads what would be destroyed behind this.
  if (plumbline::jobs::is_running()) std::_Exit(code);
  return code;
}
