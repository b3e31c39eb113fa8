#include "core/io/simulation_json.h"

#include "core/io/prediction_json.h"

namespace plumbline {
namespace {

double seconds(Picoseconds time) { return to_seconds(time).value(); }

}  // namespace

Json to_json(const Simulation& s) {
  Json::Array peaks;
  for (const MemoryPeak& peak : s.memory) peaks.emplace_back(peak.memory.device_total().value());
  Json::Array idle;
  for (const Picoseconds time : s.idle) idle.emplace_back(seconds(time));
  return Json::Object{{"step_time_s", seconds(s.step())},
                      {"bubble_fraction", s.time[TimeCause::pipeline_bubble] / s.step()},
                      {"exposed_communication_s", seconds(s.exposed_communication())},
                      {"time", to_json(s.time)},
                      {"peak_memory_bytes", s.peak_memory().value()},
                      {"stage_peak_memory_bytes", std::move(peaks)},
                      {"stage_idle_s", std::move(idle)},
                      {"busiest_stage", s.busiest_rank},
                      {"heaviest_stage", s.heaviest_rank},
                      {"actions", s.actions}};
}

}  // namespace plumbline
