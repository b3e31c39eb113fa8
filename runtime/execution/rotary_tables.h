#pragma once
/// \file rotary_tables.h: frequencies of rotary positions in the device's memory, made once.
///
/// Source: rotary_frequencies.h. Checked against: tests/runtime/execution (PyTorch's numbers).

#include <map>

#include "core/graph/operator_constants.h"
#include "runtime/execution/backend.h"

namespace plumbline {

class RotaryTables {
 public:
  RotaryTables(const RotaryConstants& constants, Backend& memory, ComputeDevice& device)
      : constants_(constants), memory_(memory), device_(device) {}

  /// `rotary_dim`: features of a head that turn.
  [[nodiscard]] const float* frequencies(std::int64_t rotary_dim);
  /// Makes those that a rehearsed step needed (step_memory.h).
  void prepare_as(const RotaryTables& rehearsed);

 private:
  const RotaryConstants& constants_;
  Backend& memory_;
  ComputeDevice& device_;
  std::map<std::int64_t, float*> made_;  ///< by features that turn
};

}  // namespace plumbline
