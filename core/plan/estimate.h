#pragma once
/// \file estimate.h: what is predicted of a plan: breakdowns that sum to their totals, and intervals.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/quantity/quantity.h"

namespace plumbline {

/// What the memory of one rank is used for at its peak.
enum class MemoryClass : std::uint8_t {
  weights,
  gradients,
  master_weights,
  optimizer_state,
  activations,      ///< kept by micro-batches in flight
  working_buffers,  ///< largest operator, what a recompute restores at once, workspaces of matrix products
  logits_and_loss,
  gathered_parameters,    ///< unsharded copies of the units in use and secondary shards (ZeRO-3), gradient buffers
                          ///< (ZeRO-2, 3)
  communication_buffers,  ///< of communicators and pipeline receives
  framework_and_context,  ///< device context, loaded kernels
  fragmentation,          ///< what the allocator loses
};
inline constexpr std::size_t memory_class_count = 11;
[[nodiscard]] std::string_view to_text(MemoryClass memory_class);

struct MemoryBreakdown {
  std::array<Bytes, memory_class_count> by_class{};

  [[nodiscard]] Bytes& operator[](MemoryClass c) { return by_class[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Bytes operator[](MemoryClass c) const { return by_class[static_cast<std::size_t>(c)]; }
  /// Tensors alive at the peak ("allocated").
  [[nodiscard]] Bytes live() const;
  /// Live and what the allocator loses ("reserved").
  [[nodiscard]] Bytes reserved() const;
  /// Everything that the device must hold.
  [[nodiscard]] Bytes device_total() const;
};

/// What the time of a step is spent on, on the busiest pipeline rank.
enum class TimeCause : std::uint8_t {
  compute,
  recompute,
  offload,  ///< copies to host memory and back that no compute hides
  tensor_parallel,
  context_parallel,
  expert_parallel,
  data_parallel,
  pipeline_bubble,
  optimizer,
  step_overhead,
};
inline constexpr std::size_t time_cause_count = 10;
[[nodiscard]] std::string_view to_text(TimeCause cause);

struct TimeBreakdown {
  std::array<Picoseconds, time_cause_count> by_cause{};

  [[nodiscard]] Picoseconds& operator[](TimeCause c) { return by_cause[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Picoseconds operator[](TimeCause c) const { return by_cause[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Picoseconds total() const;
};

/// low <= expected <= high; the interval that should hold nine of ten measurements.
struct Interval {
  double low = 0;
  double expected = 0;
  double high = 0;
};

/// One kind of collective that a rank takes part in, per step.
struct CommunicationLine {
  std::string group;  ///< axis name
  std::string collective;
  Bytes bytes_per_step{0};  ///< sent by one rank
  Seconds time{0};          ///< before overlap
};

struct RunCost {
  double days = 0;
  double gpu_hours = 0;
  Dollars dollars{0};
  double energy_kwh = 0;
};

struct Prediction {
  Interval step_time_s;
  /// Of the plan simulated action by action, where somebody did and it differs from the closed form.
  std::optional<Seconds> simulated_step;
  TimeBreakdown time;
  std::vector<MemoryBreakdown> stage_memory;  ///< per pipeline rank
  std::int32_t heaviest_stage = 0;
  Bytes peak_memory{0};
  Interval peak_memory_interval_bytes;
  Bytes host_memory_per_node{0};
  double tokens_per_second_per_gpu = 0;
  double mfu = 0;         ///< attention counted in full, as published figures mostly do
  double mfu_causal = 0;  ///< only the products that a causal mask leaves
  double hfu = 0;
  double bubble_fraction = 0;
  Flops model_flops_per_step{0};
  Flops hardware_flops_per_step{0};
  double dollars_per_step = 0;
  double joules_per_step = 0;
  std::vector<CommunicationLine> communication;
};

}  // namespace plumbline
