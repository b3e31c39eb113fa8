// main() of the window's benchmarks: one QApplication, on no screen.
#include <benchmark/benchmark.h>

#include <QApplication>

#include "gui/window/style.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  plumbline::gui::apply_scheme(application, plumbline::gui::Scheme::light);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
