// A comparison as tables, sentences and JSON.
#include "planner/session/compare/compare.h"

#include <algorithm>

#include "core/base/joined.h"
#include "core/io/json_array.h"
#include "core/io/prediction_json.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

std::string byte_difference(Bytes from, Bytes to) {
  const std::int64_t difference = to.value() - from.value();
  return (difference > 0 ? "+" : "") + std::to_string(difference) + " B";
}

/// Of a line of memory or communication.
template <class Line>
Cell difference_of(const Line& line) {
  const auto number = static_cast<double>(line.measured.value() - line.routed.value());
  if (line.routed != line.measured) return {byte_difference(line.routed, line.measured), number};
  if (line.routed == line.predicted) return {"equal", number};
  return {"as routed, " + byte_difference(line.predicted, line.measured), number};
}

Column stage_column() { return {"stage", "stage", Unit::number, "pipeline stage"}; }
Column predicted_column(Unit unit, const char* title) { return {"predicted", title, unit, "what the plan predicts"}; }
Column measured_column(Unit unit, const char* title) { return {"measured", title, unit, "what the run measured"}; }
Column difference_column() {
  return {"difference", "difference", Unit::bytes, "measured less predicted, for the rows that experts got"};
}
Column cause_column() {
  return {"cause", "likely cause", Unit::text, "what a difference most likely comes from", left};
}

}  // namespace

Table action_table(const Comparison& c) {
  Table table{{stage_column(),
               {"action", "action", Unit::text, "kind of action", left},
               {"times", "times", Unit::number, "actions of this kind that one rank takes in a step"},
               predicted_column(Unit::seconds, "predicted"),
               measured_column(Unit::seconds, "measured"),
               {"difference", "difference", Unit::per_cent, "measured over predicted"}},
              {}};
  for (const ActionLine& line : c.actions)
    table.rows.push_back(
        {whole(line.stage),
         words(to_text(line.kind)),
         whole(line.actions),
         {to_text(line.predicted), line.predicted.value()},
         {to_text(line.measured), line.measured.value()},
         line.predicted.value() > 0 ? difference_cell(line.measured.value(), line.predicted.value()) : words("")});
  return table;
}

Table compared_memory_table(const Comparison& c) {
  Table table{{stage_column(),
               {"class", "tensor class", Unit::text, "what the memory is used for; total: of all at one time", left},
               predicted_column(Unit::bytes, "predicted B"),
               measured_column(Unit::bytes, "measured B"),
               difference_column(),
               cause_column()},
              {}};
  for (const MemoryLine& line : c.memory)
    table.rows.push_back({whole(line.stage), words(words_of(line.memory_class)), grouped_cell(line.predicted.value()),
                          grouped_cell(line.measured.value()), difference_of(line), words(line.cause)});
  return table;
}

Table sent_table(const Comparison& c) {
  Table table{{stage_column(),
               {"group", "group", Unit::text, "ranks that communicate", left},
               {"collective", "collective", Unit::text, "what they do", left},
               predicted_column(Unit::bytes, "predicted B"),
               measured_column(Unit::bytes, "measured B"),
               difference_column(),
               cause_column()},
              {}};
  for (const SentLine& line : c.communication)
    table.rows.push_back({whole(line.stage), words(line.group), words(words_of(line.collective)),
                          grouped_cell(line.predicted.value()), grouped_cell(line.measured.value()),
                          difference_of(line), words(line.cause)});
  return table;
}

Table device_memory_table(const Comparison& c) {
  Table table{{stage_column(),
               {"part", "part", Unit::text, "what took memory of the device; total: of all parts", left},
               predicted_column(Unit::bytes, "predicted B"),
               measured_column(Unit::bytes, "measured B"),
               {"difference", "difference", Unit::per_cent, "measured over predicted"}},
              {}};
  for (const DeviceLine& line : c.device)
    table.rows.push_back({whole(line.stage), words(words_of(line.part)), grouped_cell(line.predicted.value()),
                          grouped_cell(line.measured.value()),
                          line.predicted.value() == 0 ? words("")
                                                      : difference_cell(static_cast<double>(line.measured.value()),
                                                                        static_cast<double>(line.predicted.value()))});
  return table;
}

std::string unpredicted_device_words(const Comparison& c) {
  std::vector<std::string> parts;
  for (const DeviceLine& line : c.device) {
    const bool is_known = std::find(parts.begin(), parts.end(), line.part) != parts.end();
    if (!line.is_predicted() && !is_known) parts.push_back(line.part);
  }
  return parts.empty() ? "" : "the plan does not predict: " + joined(parts);
}

std::string compared_step_words(const Comparison& c) {
  if (c.measured_step_s <= 0) return "no step was timed: all of them were warm-up";
  return "step time  predicted " + interval_text(c.predicted_step_s) + ", measured " +
         to_text(Seconds(c.measured_step_s)) + " (measured over predicted " +
         difference_text(c.measured_step_s, c.predicted_step_s.expected) + ")";
}

std::string_view compared_bytes_words(const Comparison& c) {
  if (!c.bytes_are_equal()) return "bytes differ from the prediction";
  return c.is_routed_unequally() ? "every byte is as predicted for the rows that were routed to experts"
                                 : "every byte is as predicted";
}

}  // namespace plumbline::present

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
