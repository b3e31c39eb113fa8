#include "planner/session/compare/comparison_json.h"

#include "core/io/json_array.h"
#include "core/io/prediction_json.h"

namespace plumbline {
namespace {

Json cause_json(const std::string& cause) { return cause.empty() ? Json() : Json(cause); }

Json line_json(const MemoryLine& line) {
  return Json::Object{{"stage", line.stage},
                      {"class", line.memory_class},
                      {"predicted_bytes", line.predicted.value()},
                      {"measured_bytes", line.measured.value()},
                      {"routed_bytes", line.routed.value()},
                      {"cause", cause_json(line.cause)}};
}

Json line_json(const SentLine& line) {
  return Json::Object{{"stage", line.stage},
                      {"group", line.group},
                      {"collective", line.collective},
                      {"predicted_bytes", line.predicted.value()},
                      {"measured_bytes", line.measured.value()},
                      {"routed_bytes", line.routed.value()},
                      {"cause", cause_json(line.cause)}};
}

Json line_json(const SentRecord& line) {
  return Json::Object{
      {"group", line.group}, {"collective", line.collective}, {"calls", line.calls}, {"bytes", line.bytes.value()}};
}

Json line_json(const ActionLine& line) {
  return Json::Object{{"stage", line.stage},
                      {"kind", to_text(line.kind)},
                      {"actions", line.actions},
                      {"predicted_s", line.predicted.value()},
                      {"measured_s", line.measured.value()}};
}

Json line_json(const DeviceLine& line) {
  return Json::Object{{"stage", line.stage},
                      {"part", line.part},
                      {"predicted_bytes", line.predicted.value()},
                      {"measured_bytes", line.measured.value()}};
}

template <class Line>
Json lines_json(const std::vector<Line>& lines) {
  return json_array(lines, [](const Line& line) { return line_json(line); });
}

}  // namespace

Json to_json(const Comparison& c) {
  Json::Object object{{"step_time_s", Json::Object{{"predicted", to_json(c.predicted_step_s)},
                                                   {"measured", c.measured_step_s},
                                                   {"cause", cause_json(c.step_cause)}}},
                      {"bytes_equal", c.bytes_are_equal()},
                      {"memory", lines_json(c.memory)},
                      {"communication", lines_json(c.communication)},
                      {"communication_beside", lines_json(c.unplanned)},
                      {"actions", lines_json(c.actions)},
                      {"arena_bytes", json_array(c.arenas, [](Bytes arena) { return arena.value(); })},
                      {"loss", json_array(c.losses)}};
  if (!c.device.empty()) object.emplace_back("device_memory", lines_json(c.device));
  return object;
}

}  // namespace plumbline
