// A frame of the timeline of 64 stages by 512 micro-batches: aim below 16 ms, whole and zoomed in.
#include <benchmark/benchmark.h>

#include <QImage>

#include "gui/pages/timeline/lane_view.h"
#include "gui/pages/timeline/memory_view.h"

namespace plumbline::gui {
namespace {

SharedTimeline large_timeline() {
  session::StrategyRequest request;
  request.question.model = "llama-3.1-405b";
  request.question.machine = "dgx-h100";
  request.question.devices = 512;
  request.question.training.sequence_length = 8192;
  request.question.training.global_batch = 512;
  request.strategy.strategy.tensor_parallel = 8;
  request.strategy.strategy.pipeline_stages = 64;
  return timeline_data(std::make_shared<PricedPlan>(PricedPlan{request, session::estimate(request)}));
}

const SharedTimeline& shared_timeline() {
  static const SharedTimeline timeline = large_timeline();
  return timeline;
}

/// `part`: of the step that is seen, in thousandths.
void lanes(benchmark::State& state) {
  LaneView view;
  view.resize(1280, 700);
  view.show();
  view.show_data(shared_timeline());
  TimeWindow window = view.window();
  const double length = window.whole() * static_cast<double>(state.range(0)) / 1000;
  QImage image(view.size(), QImage::Format_RGB32);
  double begin = 0.3 * window.whole();
  for ([[maybe_unused]] const auto _ : state) {
    begin += length / 100;
    if (begin + length > 0.9 * window.whole()) begin = 0.3 * window.whole();
    window.show(begin, length);
    view.show_window(window);
    view.viewport()->render(&image);
  }
}
BENCHMARK(lanes)->ArgName("part")->Arg(1000)->Arg(300)->Arg(30)->Arg(3)->Unit(benchmark::kMillisecond);

void memory(benchmark::State& state) {
  MemoryView view;
  view.resize(1280, 240);
  view.show();
  const SharedTimeline& timeline = shared_timeline();
  view.show_picture(MemoryPicture{memory_track(timeline->simulated(), 0), timeline->capacity[0],
                                  timeline->simulation().peak_memory(), Bytes(0)});
  view.show_window(TimeWindow(static_cast<double>(timeline->simulation().timeline.end.value())));
  QImage image(view.size(), QImage::Format_RGB32);
  for ([[maybe_unused]] const auto _ : state) view.render(&image);
}
BENCHMARK(memory)->Unit(benchmark::kMillisecond);

void computed(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(large_timeline());
}
BENCHMARK(computed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace plumbline::gui
