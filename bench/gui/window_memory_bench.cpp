// Measures the window's memory after it has answered an example and shown every page of the best plan. The goal is
// less than 300 MB.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <QCoreApplication>

#include "gui/files/examples.h"
#include "gui/window/main_window.h"

namespace plumbline::gui {
namespace {

/// The most that was resident since the process began, in MB.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double bytes_per_unit = 1024, bytes_per_megabyte = 1e6;  // Linux counts in KiB
  return static_cast<double>(usage.ru_maxrss) * bytes_per_unit / bytes_per_megabyte;
}

template <class Holds>
void wait_until(const Holds& holds) {
  while (!holds()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void window_every_page(benchmark::State& state) {
  for ([[maybe_unused]] const auto& once : state) {
    state.counters["opened_MB"] = peak_megabytes();
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.question().replace(examples().front().form, "question");
    wait_until([&] { return !window.is_busy() && window.plan() != nullptr; });
    state.counters["answered_MB"] = peak_megabytes();
    for (Page* const page : window.pages()) {
      window.bring_to_front(page->id());
      wait_until([&] { return page->is_complete() && !window.is_busy(); });
      benchmark::DoNotOptimize(window.grab());
    }
    state.counters["every_page_MB"] = peak_megabytes();
  }
}
BENCHMARK(window_every_page)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace plumbline::gui
