#include "cli/compare_view.h"

#include "cli/plan_view.h"
#include "cli/table.h"
#include "core/quantity/text.h"

namespace plumbline {
namespace {

std::string difference_text_of(Bytes from, Bytes to) {
  const std::int64_t difference = to.value() - from.value();
  return (difference > 0 ? "+" : "") + std::to_string(difference) + " B";
}

/// Of a line of memory or communication.
template <class Line>
std::string difference_of(const Line& line) {
  if (line.routed == line.measured)
    return line.routed == line.predicted ? "equal" : "as routed, " + difference_text_of(line.predicted, line.measured);
  return difference_text_of(line.routed, line.measured);
}

std::string step_text(const Comparison& c) {
  if (c.measured_step_s <= 0) return "no step was timed: all of them were warm-up\n";
  const Interval& predicted = c.predicted_step_s;
  std::string text = "step time  predicted " + interval_text(predicted) + ", measured " +
                     to_text(Seconds(c.measured_step_s)) + " (measured over predicted " +
                     difference_text(c.measured_step_s, predicted.expected) + ")\n";
  if (!c.step_cause.empty()) text += wrapped(c.step_cause, terminal_columns, 2) + "\n";
  return text;
}

std::string actions_text(const Comparison& c) {
  Table table({{"stage"}, {"action", Align::left}, {"times"}, {"predicted"}, {"measured"}, {"difference"}});
  for (const ActionLine& line : c.actions)
    table.add_row({std::to_string(line.stage), std::string(to_text(line.kind)), std::to_string(line.actions),
                   to_text(line.predicted), to_text(line.measured),
                   line.predicted.value() > 0 ? difference_text(line.measured.value(), line.predicted.value()) : ""});
  return table.text(terminal_columns);
}

std::string memory_text(const Comparison& c) {
  Table table({{"stage"},
               {"tensor class", Align::left},
               {"predicted B"},
               {"measured B"},
               {"difference"},
               {"likely cause", Align::left}});
  for (const MemoryLine& line : c.memory)
    table.add_row({std::to_string(line.stage), words_of(line.memory_class), grouped(line.predicted.value()),
                   grouped(line.measured.value()), difference_of(line), line.cause});
  std::string text = table.text(terminal_columns);
  for (std::size_t stage = 0; stage < c.arenas.size(); ++stage)
    if (c.arenas[stage].value() > 0)
      text += "arena of stage " + std::to_string(stage) + ": " + grouped(c.arenas[stage].value()) + " B\n";
  return text;
}

std::string sent_text(const Comparison& c) {
  Table table({{"stage"},
               {"group", Align::left},
               {"collective", Align::left},
               {"predicted B"},
               {"measured B"},
               {"difference"},
               {"likely cause", Align::left}});
  for (const SentLine& line : c.communication)
    table.add_row({std::to_string(line.stage), line.group, words_of(line.collective), grouped(line.predicted.value()),
                   grouped(line.measured.value()), difference_of(line), line.cause});
  std::string text = table.empty() ? "nothing is sent\n" : table.text(terminal_columns);
  for (const SentRecord& line : c.beside)
    text += "beside the plan: " + line.group + " " + words_of(line.collective) + ", " + std::to_string(line.calls) +
            " calls, " + grouped(line.bytes.value()) + " B\n";
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& c, const Terminal& terminal) {
  std::string text = step_text(c) + "\n" + actions_text(c) +
                     "\nmemory of the rank that differs most, when it holds most\n" + memory_text(c) +
                     "\nsent by one rank in a step\n" + sent_text(c) + "\n";
  const char* equal = c.is_routed_unequally() ? "every byte is as predicted for the rows that were routed to experts"
                                              : "every byte is as predicted";
  if (c.bytes_are_equal()) return text + terminal.painted(equal, Colour::green) + "\n";
  return text + terminal.painted("bytes differ from the prediction", Colour::red) + "\n";
}

}  // namespace plumbline
