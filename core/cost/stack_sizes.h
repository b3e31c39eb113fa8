#pragma once
/// \file stack_sizes.h: what a software stack decides about bytes: its choices, what it keeps and what it collects.
///
/// Answers all that sizes of blocks, stages and programs read of a stack; how fast the stack is does not appear. Model:
/// a view of a calibration's features and of the numbers that count bytes or elements; without a calibration those of
/// the textbook. Source: calibration.h. Not modelled: what the allocator loses, which is a fraction of a peak
/// (held_states.h). Checked against: tests/property/uncalibrated_program_test.cpp.

#include "core/cost/calibration.h"

namespace plumbline {

/// What it refers to outlives it.
struct StackSizes {
  const StackFeatures& features;
  const MemoryEfficiency& memory;
  const ShardingEfficiency& sharding;
  double bucket_bytes = 0;  ///< of gradients that are reduced at once; 0: of each unit as soon as they are made
  double late_share = 0;    ///< of a reduction, what cannot start before the last backward has ended

  StackSizes(const StackFeatures& choices, const MemoryEfficiency& kept, const ShardingEfficiency& gathered)
      : features(choices), memory(kept), sharding(gathered) {}
  /// Of a calibrated stack. The exposed share x of its reductions is what overlap costs the other compute,
  /// slowdown (1 - t), and the part t that starts late: t + slowdown (1 - t) = x.
  StackSizes(const StackCalibration& stack);  // NOLINT(google-explicit-constructor): a view of it
};

/// Nothing but what the algorithms need: no context, no buffers of libraries, units gathered as wholes.
[[nodiscard]] StackSizes textbook_sizes(const StackFeatures& features);

}  // namespace plumbline
