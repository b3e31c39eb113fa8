#pragma once
/// \file weight_gathers.h: weights as kernels read them, and the gathers that make them whole.
///
/// Answers: views. Model: a unit of ZeRO-3 is gathered into the slot that its action names (unit_slots.h). Below, what
/// other ranks have updated is gathered before it is read again. Gathers are work of the data lane: they are only given
/// to it here. Source: ZeRO, arXiv:1910.02054, section 5. Checked against: tests/runtime/execution (numbers of every
/// strategy).

#include "runtime/execution/unit_slots.h"

namespace plumbline {

class WeightGathers {
 public:
  explicit WeightGathers(ParameterMemory& memory);

  /// An op's parameter; [rows, columns].
  [[nodiscard]] ConstTensorView weight(std::int32_t execution, TensorId tensor) const;
  /// ZeRO-3: the unit whole, in this slot. ZeRO-1 and 2: what was updated.
  void gather(std::int32_t execution, UnitSlot slot);
  void release();
  /// Ranks have updated their parts.
  void mark_updated();

 private:
  void gather_sections(std::int32_t execution);

  ParameterMemory& memory_;
  UnitSlots slots_;
  std::vector<bool> is_stale_;  ///< by execution: others have updated parts of its weights, which are not gathered yet
};

}  // namespace plumbline
