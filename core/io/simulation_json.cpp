#include "core/io/simulation_json.h"

#include <algorithm>
#include <span>

#include "core/io/json_array.h"
#include "core/io/prediction_json.h"
#include "core/simulate/stage_report.h"

namespace plumbline {
namespace {

/// Enough to see what fills a device; the classes say the rest.
constexpr std::size_t most_buffers = 10;

double seconds(Picoseconds time) { return to_seconds(time).value(); }

/// What no chunk, segment or micro-batch owns says null there.
Json owner_json(std::int32_t owner) { return owner < 0 ? Json() : Json(owner); }

Json buffer_json(const Buffer& buffer) {
  return Json::Object{{"class", to_text(buffer.memory_class)},
                      {"chunk", owner_json(buffer.chunk)},
                      {"micro_batch", owner_json(buffer.micro_batch)},
                      {"piece", owner_json(buffer.segment)},
                      {"bytes", buffer.bytes.value()}};
}

Json peak_json(std::size_t stage, const StageReport& report, const MemoryPeak& peak) {
  const std::span largest(report.alive.data(), std::min(most_buffers, report.alive.size()));
  return Json::Object{{"stage", static_cast<std::int64_t>(stage)},
                      {"at_s", seconds(report.peak_at)},
                      {"action", report.peak_action.empty() ? Json() : Json(report.peak_action)},
                      {"bytes", peak.memory.device_total().value()},
                      {"memory", to_json(peak.memory)},
                      {"largest_buffers", json_array(largest, buffer_json)}};
}

}  // namespace

Json to_json(const Program& program, const Simulation& s, const SimulationSetting& setting) {
  const std::vector<StageReport> reports = stage_reports(program, s);
  Json::Array peaks;
  Json::Array idle;
  Json::Array stages;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    peaks.emplace_back(s.memory[r].memory.device_total().value());
    idle.emplace_back(seconds(s.idle[r]));
    stages.emplace_back(Json::Object{{"idle_s", seconds(s.idle[r])},
                                     {"busy_s", to_json(reports[r].busy)},
                                     {"peak", peak_json(r, reports[r], s.memory[r])}});
  }
  const auto heaviest = static_cast<std::size_t>(s.heaviest_rank);
  return Json::Object{
      {"step_time_s", seconds(s.step())},
      {"bubble_fraction", s.time[TimeCause::pipeline_bubble] / s.step()},
      {"exposed_communication_s", seconds(s.exposed_communication())},
      {"time", to_json(s.time)},
      {"peak_memory_bytes", s.peak_memory().value()},
      {"stage_peak_memory_bytes", std::move(peaks)},
      {"stage_idle_s", std::move(idle)},
      {"busiest_stage", s.busiest_rank},
      {"heaviest_stage", s.heaviest_rank},
      {"actions", s.actions},
      {"micro_batches_left_out", s.left_out.micro_batches},
      {"schedule", setting.schedule},
      {"closed_form_step_time_s", setting.closed_form.value()},
      {"order_csv", setting.order ? Json(*setting.order) : Json()},
      {"stage_speed", setting.stage_speed.empty() ? Json() : json_array(setting.stage_speed)},
      {"step_time_at_speed_1_s", setting.step_at_speed_1 ? Json(seconds(*setting.step_at_speed_1)) : Json()},
      {"peak", peak_json(heaviest, reports[heaviest], s.memory[heaviest])},
      {"stages", std::move(stages)}};
}

}  // namespace plumbline
