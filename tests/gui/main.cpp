// main() of the tests of the window: one QApplication for all of them, on no screen.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <QApplication>
#include <QStandardPaths>

#include "gui/palette.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  QStandardPaths::setTestModeEnabled(true);
  QApplication::setApplicationName("plumbline-tests");  // what it stores is not a user's
  QApplication::setPalette(plumbline::gui::application_palette(plumbline::gui::Scheme::light));
  return Catch::Session().run(argc, argv);
}
