// plumbline: the window.
#include <QApplication>

#include "gui/palette.h"
#include "gui/window/main_window.h"

int main(int argc, char** argv) {
  const QApplication application(argc, argv);
  QApplication::setApplicationName("plumbline");
  QApplication::setPalette(plumbline::gui::application_palette(plumbline::gui::Scheme::light));
  plumbline::gui::MainWindow window;
  window.show();
  return QApplication::exec();
}
