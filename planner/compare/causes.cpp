#include "planner/compare/causes.h"

#include <cmath>

#include "core/quantity/text.h"

namespace plumbline {
namespace {

/// The line whose two sides are farthest apart, in the direction of the step's difference.
const ActionLine* largest_difference(const std::vector<ActionLine>& lines, double direction) {
  const ActionLine* largest = nullptr;
  const auto difference = [&](const ActionLine& line) {
    return direction * (line.measured.value() - line.predicted.value());
  };
  for (const ActionLine& line : lines)
    if (difference(line) > 0 && (largest == nullptr || difference(line) > difference(*largest))) largest = &line;
  return largest;
}

bool rests_on_assumptions(const Plan& plan) {
  for (const AssumedNumber& number : plan.provenance.assumed)
    if (number.name.find("peak_fraction") != std::string::npos ||
        number.name.find("bandwidth_fraction") != std::string::npos)
      return true;
  return false;
}

}  // namespace

std::string memory_cause(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::weights:
    case MemoryClass::gradients:
    case MemoryClass::master_weights:
    case MemoryClass::optimizer_state: return "another sharding of states, or another number format";
    case MemoryClass::activations: return "what backward keeps, or how many micro-batches are in flight";
    case MemoryClass::working_buffers: return "lifetimes inside of an action";
    case MemoryClass::logits_and_loss: return "how long logits live, or their number format";
    case MemoryClass::gathered_parameters: return "how many units are gathered at once, or when they are released";
    case MemoryClass::communication_buffers: return "buffers of messages and communicators";
    case MemoryClass::framework_and_context:
    case MemoryClass::fragmentation: return "a share that only a device's framework has";
  }
  return "";
}

std::string sent_cause(Bytes predicted, Bytes measured) {
  if (measured.value() == 0) return "a collective that the plan has and the run left out";
  if (predicted.value() == 0) return "a collective that the plan does not have";
  const double ratio = measured / predicted;
  const double times = ratio > 1 ? ratio : 1 / ratio;
  if (times > 1.5 && std::abs(times - std::round(times)) < 1e-9)
    return std::string(ratio > 1 ? "sent " : "sent 1/") + std::to_string(std::llround(times)) +
           (ratio > 1 ? " times as often, or in a wider format" : " as often, or in a narrower format");
  return measured > predicted ? "a message that is larger, or one too many"
                              : "a message that is smaller, or one left out";
}

std::string routing_cause(Bytes in_balance, Bytes routed) {
  if (routed == in_balance) return "";
  return std::string("routing imbalance: ") + (routed > in_balance ? "more" : "fewer") +
         " rows of experts than in balance";
}

std::string step_cause(const Comparison& c, const Plan& plan, const RunRecord& record) {
  const Interval& predicted = c.predicted_step_s;
  if (c.measured_step_s <= 0 || (c.measured_step_s >= predicted.low && c.measured_step_s <= predicted.high)) return "";
  const double direction = c.measured_step_s > predicted.expected ? 1 : -1;
  std::string text = c.measured_step_s > predicted.expected ? "slower than predicted" : "faster than predicted";
  if (const ActionLine* line = largest_difference(c.actions, direction))
    text += ": most of it in " + std::string(to_text(line->kind)) + " of stage " + std::to_string(line->stage) + " (" +
            to_text(line->predicted) + " predicted, " + to_text(line->measured) + " measured)";
  if (rests_on_assumptions(plan)) text += "; kernel rates are assumed until plan calibrate measures them";
  if (record.backend == "cpu" && record.ranks.size() > 1) text += "; waiting for other ranks counts where they meet";
  return text;
}

}  // namespace plumbline
