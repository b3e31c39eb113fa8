#include "planner/compare/device_memory.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/cost/stage_memory.h"

namespace plumbline {
namespace {

using Parts = std::array<Bytes, device_part_count>;

Bytes sum(const Parts& parts) { return std::accumulate(parts.begin(), parts.end(), Bytes(0)); }

MemoryBreakdown share_of_stack(const Strategy& strategy, const StackCalibration& stack) {
  MemoryBreakdown share;
  share[MemoryClass::framework_and_context] = Bytes(static_cast<std::int64_t>(stack.memory.context_bytes));
  share[MemoryClass::working_buffers] = Bytes(static_cast<std::int64_t>(stack.memory.workspace_bytes));
  share[MemoryClass::communication_buffers] = communicator_buffers(strategy, stack);
  return share;
}

Parts predicted_parts(const MemoryBreakdown& memory, const Strategy& strategy, const StackCalibration& stack) {
  Parts parts{};
  const auto part = [&](DevicePart p) -> Bytes& { return parts[static_cast<std::size_t>(p)]; };
  const MemoryBreakdown share = share_of_stack(strategy, stack);
  part(DevicePart::context) = share[MemoryClass::framework_and_context];
  part(DevicePart::libraries) = share[MemoryClass::working_buffers];
  part(DevicePart::communication) = share[MemoryClass::communication_buffers];
  part(DevicePart::arena) = memory.device_total() - sum(parts);
  return parts;
}

/// Of a stage's ranks, the one whose total is farthest from `predicted`.
std::optional<DeviceMemoryRecord> farthest(const RunRecord& record, std::int32_t stage, Bytes predicted) {
  std::optional<DeviceMemoryRecord> found;
  const auto distance = [&](const DeviceMemoryRecord& one) { return std::abs((one.total() - predicted).value()); };
  for (const RankRecord& rank : record.ranks)
    if (rank.stage == stage && rank.memory.device && (!found || distance(*rank.memory.device) > distance(*found)))
      found = rank.memory.device;
  return found;
}

}  // namespace

MemoryBreakdown apart_from_tensors(const Strategy& strategy, const StackCalibration& stack, const RunRecord& record) {
  const bool has_parts = std::any_of(record.ranks.begin(), record.ranks.end(),
                                     [](const RankRecord& rank) { return rank.memory.device.has_value(); });
  return has_parts ? share_of_stack(strategy, stack) : MemoryBreakdown{};
}

std::vector<DeviceLine> device_lines(const Plan& plan, const StackCalibration& stack, const RunRecord& record) {
  std::vector<DeviceLine> lines;
  for (std::size_t s = 0; s < plan.prediction.stage_memory.size(); ++s) {
    const auto stage = static_cast<std::int32_t>(s);
    const Parts predicted = predicted_parts(plan.prediction.stage_memory[s], plan.strategy, stack);
    const std::optional<DeviceMemoryRecord> measured = farthest(record, stage, sum(predicted));
    if (!measured) continue;
    for (std::size_t p = 0; p < device_part_count; ++p)
      if (predicted[p].value() > 0 || measured->by_part[p].value() > 0)
        lines.push_back({stage, std::string(to_text(static_cast<DevicePart>(p))), predicted[p], measured->by_part[p]});
    lines.push_back({stage, "total", sum(predicted), measured->total()});
  }
  return lines;
}

}  // namespace plumbline
