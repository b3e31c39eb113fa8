#include "core/plan/estimate.h"

#include <numeric>

namespace plumbline {

std::string_view to_text(MemoryClass c) {
  static constexpr std::array<std::string_view, memory_class_count> names{
      "weights",         "gradients",       "master_weights",      "optimizer_state",       "activations",
      "working_buffers", "logits_and_loss", "gathered_parameters", "communication_buffers", "framework_and_context",
      "fragmentation"};
  return names[static_cast<std::size_t>(c)];
}

std::string_view to_text(TimeCause c) {
  static constexpr std::array<std::string_view, time_cause_count> names{
      "compute",         "recompute",     "offload",         "tensor_parallel", "context_parallel",
      "expert_parallel", "data_parallel", "pipeline_bubble", "optimizer",       "step_overhead"};
  return names[static_cast<std::size_t>(c)];
}

Bytes MemoryBreakdown::device_total() const { return std::accumulate(by_class.begin(), by_class.end(), Bytes(0)); }
Bytes MemoryBreakdown::reserved() const {
  return device_total() - (*this)[MemoryClass::communication_buffers] - (*this)[MemoryClass::framework_and_context];
}
Bytes MemoryBreakdown::live() const { return reserved() - (*this)[MemoryClass::fragmentation]; }

Picoseconds TimeBreakdown::total() const { return std::accumulate(by_cause.begin(), by_cause.end(), Picoseconds(0)); }

}  // namespace plumbline
