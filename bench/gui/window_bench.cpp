// The window without a screen: how long it takes to open, and to paint, sort and filter many plans.
#include <benchmark/benchmark.h>

#include <random>

#include "gui/scatter/scatter_plot.h"
#include "gui/tables/table_model.h"
#include "gui/window/main_window.h"
#include "planner/present/numbers.h"

namespace plumbline::gui {
namespace {

constexpr int many = 100'000;
constexpr QSize window_size(1280, 800);

ScatterPicture many_points() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  ScatterPicture picture;
  picture.capacity_gib = 80;
  for (int i = 0; i < many; ++i) {
    const double step = 10 + 10 * share(random);
    picture.points.push_back({30 + 45 * share(random), step, 0.9 * step, 1.1 * step, i % 100 == 0, {}});
  }
  return picture;
}

present::Table many_rows() {
  std::mt19937 random(1);
  present::Table table;
  table.columns = {{"schedule", "schedule", present::Unit::text, "", present::Align::left},
                   {"tensor_parallel", "tp", present::Unit::number, ""},
                   {"step_time", "step s", present::Unit::seconds, ""}};
  for (int i = 0; i < many; ++i)
    table.rows.push_back({present::words(i % 3 == 0 ? "1f1b" : "interleaved"), present::whole(1LL << (random() % 5)),
                          present::decimal(10 + static_cast<double>(random() % 100'000) / 1e4, 3)});
  return table;
}

void window_first_paint(benchmark::State& state) {
  for ([[maybe_unused]] const auto& once : state) {
    MainWindow window;
    window.resize(window_size);
    benchmark::DoNotOptimize(window.grab());
  }
}

void scatter_new_picture(benchmark::State& state) {
  const ScatterPicture picture = many_points();
  ScatterPlot plot;
  plot.resize(window_size);
  plot.show();
  for ([[maybe_unused]] const auto& once : state) {
    plot.set_picture(picture);
    benchmark::DoNotOptimize(plot.grab());
  }
}

void scatter_hover(benchmark::State& state) {
  ScatterPlot plot;
  plot.resize(window_size);
  plot.show();
  plot.set_picture(many_points());
  int point = 0;
  for ([[maybe_unused]] const auto& once : state) {
    plot.set_hovered(++point % many);
    benchmark::DoNotOptimize(plot.grab());
  }
}

void table_sort(benchmark::State& state) {
  TableModel model;
  model.set_table(many_rows());
  Qt::SortOrder order = Qt::AscendingOrder;
  for ([[maybe_unused]] const auto& once : state) {
    model.sort(2, order);
    order = order == Qt::AscendingOrder ? Qt::DescendingOrder : Qt::AscendingOrder;
  }
}

void table_filter(benchmark::State& state) {
  TableModel model;
  model.set_table(many_rows());
  bool by_number = false;
  for ([[maybe_unused]] const auto& once : state) {
    model.set_filter(by_number ? "tp>=8" : "1f1b");
    by_number = !by_number;
  }
}

BENCHMARK(window_first_paint)->Unit(benchmark::kMillisecond);
BENCHMARK(scatter_new_picture)->Unit(benchmark::kMillisecond);
BENCHMARK(scatter_hover)->Unit(benchmark::kMillisecond);
BENCHMARK(table_sort)->Unit(benchmark::kMillisecond);
BENCHMARK(table_filter)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline::gui
