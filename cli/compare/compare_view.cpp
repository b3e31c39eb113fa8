#include "cli/compare/compare_view.h"

#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/quantity/text.h"
#include "planner/session/compare/compare.h"

namespace plumbline {
namespace {

std::string step_text(const Comparison& c) {
  std::string text = present::compared_step_words(c) + "\n";
  if (!c.step_cause.empty()) text += wrapped(c.step_cause, terminal_columns(), 2) + "\n";
  return text;
}

std::string memory_text(const Comparison& c) {
  std::string all = text(present::compared_memory_table(c));
  for (std::size_t stage = 0; stage < c.arenas.size(); ++stage)
    if (c.arenas[stage].value() > 0)
      all += "arena of stage " + std::to_string(stage) + ": " + grouped(c.arenas[stage].value()) + " B\n";
  return all;
}

/// Nothing on devices without memory of their own.
std::string device_text(const Comparison& c) {
  if (c.device.empty()) return "";
  const std::string unpredicted = present::unpredicted_device_words(c);
  return "\nmemory of the device, of the rank that differs most\n" + text(present::device_memory_table(c)) +
         (unpredicted.empty() ? "" : unpredicted + "\n");
}

std::string sent_text(const Comparison& c) {
  std::string all = c.communication.empty() ? "nothing is sent\n" : text(present::sent_table(c));
  for (const SentRecord& line : c.unplanned)
    all += "beside the plan: " + line.group + " " + words_of(line.collective) + ", " + std::to_string(line.calls) +
           " calls, " + grouped(line.bytes.value()) + " B\n";
  return all;
}

}  // namespace

std::string comparison_text(const Comparison& c, const Terminal& terminal) {
  const Colour colour = c.bytes_are_equal() ? Colour::green : Colour::red;
  return step_text(c) + "\n" + text(present::action_table(c)) +
         "\nmemory of the rank that differs most, when it holds most\n" + memory_text(c) + device_text(c) +
         "\nsent by one rank in a step\n" + sent_text(c) + "\n" +
         terminal.painted(present::compared_bytes_words(c), colour) + "\n";
}

}  // namespace plumbline
