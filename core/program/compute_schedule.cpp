#include "core/program/compute_schedule.h"

#include <array>

#include "core/base/errors.h"
#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

/// How often each chunk of a rank passes each micro-batch, by forward, input gradient, weight gradient.
class ActionCounts {
 public:
  explicit ActionCounts(const PipelineShape& shape)
      : shape_(shape),
        counts_(static_cast<std::size_t>(shape.virtual_stages) * static_cast<std::size_t>(shape.micro_batches)) {}

  /// Why the action cannot be counted, if it cannot.
  std::optional<std::string> add(const ComputeAction& a) {
    const std::string text = to_text(a, shape_.virtual_stages);
    if (a.chunk < 0 || a.chunk >= shape_.virtual_stages || a.micro_batch < 0 || a.micro_batch >= shape_.micro_batches)
      return text + " is outside the schedule";
    auto& [forward, input, weight] = counts_[index(a.chunk, a.micro_batch)];
    switch (a.kind) {
      case ActionKind::forward: ++forward; break;
      case ActionKind::backward: ++input, ++weight; break;
      case ActionKind::backward_input: ++input; break;
      case ActionKind::backward_weight: ++weight; break;
      default: return text + " is no compute action";
    }
    if (forward > 1 || input > 1 || weight > 1) return text + " is there twice";
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> missing() const {
    constexpr std::array kinds{ActionKind::forward, ActionKind::backward_input, ActionKind::backward_weight};
    for (std::int32_t chunk = 0; chunk < shape_.virtual_stages; ++chunk)
      for (std::int32_t m = 0; m < shape_.micro_batches; ++m)
        for (std::size_t k = 0; k < kinds.size(); ++k)
          if (counts_[index(chunk, m)][k] == 0)
            return to_text(ComputeAction{kinds[k], chunk, m}, shape_.virtual_stages) + " is missing";
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::size_t index(std::int32_t chunk, std::int32_t micro_batch) const {
    return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  PipelineShape shape_;
  std::vector<std::array<int, 3>> counts_;
};

}  // namespace

ComputeSchedule compute_schedule(Schedule schedule, const PipelineShape& shape) {
  check(!schedule_fault(schedule, shape.pipeline_stages, shape.virtual_stages, shape.micro_batches),
        "the legality rules refuse shapes that a schedule has no order for");
  return {shape, placement(schedule), order_of(schedule).orders(shape)};
}

std::string to_text(const ActionFault& fault) { return "rank " + std::to_string(fault.rank) + ": " + fault.what; }

std::optional<ActionFault> action_fault(const ComputeSchedule& schedule) {
  check(std::ssize(schedule.ranks) == schedule.shape.pipeline_stages, "there is an order for every rank");
  for (std::int32_t rank = 0; rank < schedule.shape.pipeline_stages; ++rank) {
    const RankOrder& order = schedule.ranks[static_cast<std::size_t>(rank)];
    ActionCounts passes(schedule.shape);
    for (std::int32_t i = 0; i < std::ssize(order); ++i)
      if (auto fault = passes.add(order[static_cast<std::size_t>(i)])) return ActionFault{rank, i, std::move(*fault)};
    if (auto fault = passes.missing()) return ActionFault{rank, -1, std::move(*fault)};
  }
  return std::nullopt;
}

}  // namespace plumbline
