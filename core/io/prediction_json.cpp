#include "core/io/prediction_json.h"

#include "core/io/json_array.h"

namespace plumbline {
namespace {

/// Written only where a simulation says something else than the closed form.
constexpr std::string_view simulated_key = "simulated_step_time_s";

Json totals(const MemoryBreakdown& memory) {
  return Json::Object{{"live_bytes", memory.live().value()},
                      {"reserved_bytes", memory.reserved().value()},
                      {"device_total_bytes", memory.device_total().value()}};
}

Json communication(const std::vector<CommunicationLine>& lines) {
  return json_array(lines, [](const CommunicationLine& line) {
    return Json::Object{{"group", line.group},
                        {"collective", line.collective},
                        {"bytes_per_step", line.bytes_per_step.value()},
                        {"time_s", line.time.value()}};
  });
}

}  // namespace

Json to_json(const MemoryBreakdown& memory) {
  Json::Object object;
  for (std::size_t i = 0; i < memory_class_count; ++i)
    object.emplace_back(to_text(static_cast<MemoryClass>(i)), memory.by_class[i].value());
  return object;
}

Json to_json(const TimeBreakdown& time) {
  Json::Object object;
  for (std::size_t i = 0; i < time_cause_count; ++i)
    object.emplace_back(to_text(static_cast<TimeCause>(i)), to_seconds(time.by_cause[i]).value());
  return object;
}

Json to_json(const Interval& interval) {
  return Json::Object{{"low", interval.low}, {"expected", interval.expected}, {"high", interval.high}};
}

Json to_json(const RunCost& run) {
  return Json::Object{{"days", run.days},
                      {"gpu_hours", run.gpu_hours},
                      {"dollars", run.dollars.value()},
                      {"energy_kwh", run.energy_kwh}};
}

Json to_json(const Prediction& p) {
  Json::Array stage_peaks;
  Json::Array memory;
  Json::Array memory_totals;
  for (const MemoryBreakdown& stage : p.stage_memory) {
    stage_peaks.emplace_back(stage.device_total().value());
    memory.push_back(to_json(stage));
    memory_totals.push_back(totals(stage));
  }
  Json::Object object{{"step_time_s", to_json(p.step_time_s)},
                      {"tokens_per_s_per_gpu", p.tokens_per_second_per_gpu},
                      {"mfu", p.mfu},
                      {"mfu_causal", p.mfu_causal},
                      {"hfu", p.hfu},
                      {"peak_memory_bytes", p.peak_memory.value()},
                      {"peak_memory_interval_bytes", to_json(p.peak_memory_interval_bytes)},
                      {"heaviest_stage", p.heaviest_stage},
                      {"stage_peak_memory_bytes", std::move(stage_peaks)},
                      {"memory", std::move(memory)},
                      {"memory_totals", std::move(memory_totals)},
                      {"host_memory_per_node_bytes", p.host_memory_per_node.value()},
                      {"time", to_json(p.time)},
                      {"bubble_fraction", p.bubble_fraction},
                      {"model_flops_per_step", p.model_flops_per_step.value()},
                      {"hardware_flops_per_step", p.hardware_flops_per_step.value()},
                      {"dollars_per_step", p.dollars_per_step},
                      {"joules_per_step", p.joules_per_step},
                      {"communication", communication(p.communication)}};
  if (p.simulated_step) object.emplace_back(simulated_key, p.simulated_step->value());
  return object;
}

void check_prediction_keys(const JsonPlace& place) {
  JsonObject object(place);
  const Json written = to_json(Prediction{});  // outlives the loop over its members
  for (const Json::Member& known : *written.if_object()) (void)object.find(known.first);
  (void)object.find(simulated_key);
  (void)object.find(samples_key);
  object.finish();
}

}  // namespace plumbline
