#pragma once
/// \file weight_gathers.h: weights as kernels read them, and the gathers that make them whole.
///
/// Answers: views. Model: a unit of ZeRO-3 is gathered into the slot that its action names (unit_slots.h). Below, what
/// other ranks have updated is gathered before it is read again. Gathers are work of the data lane: they are only given
/// to it here. Where backwards gather over a smaller group, each forward leaves the rank's part of that in the
/// secondary shards, which are bound while a micro-batch waits for its backward. Source: ZeRO, arXiv:1910.02054,
/// section 5; ZeRO++, arXiv:2306.10209, section 3.2. Checked against: tests/runtime/execution (numbers of every
/// strategy).

#include "runtime/execution/unit_slots.h"

namespace plumbline {

class WeightGathers {
 public:
  explicit WeightGathers(ParameterMemory& memory);

  /// An op's parameter; [rows, columns].
  [[nodiscard]] ConstTensorView weight(std::int32_t execution, TensorId tensor) const;
  /// ZeRO-3: the unit whole, in this slot, over the groups of an axis. ZeRO-1 and 2: what was updated.
  void gather(std::int32_t execution, UnitSlot slot, Axis over = Axis::shard);
  void release();
  /// A forward of the execution has its unit whole: its shards stay for a backward.
  void keep_secondary(std::int32_t execution);
  /// The backward of an execution is done, weight gradients included.
  void drop_secondary();
  /// Ranks have updated their parts.
  void mark_updated();

 private:
  void gather_sections(std::int32_t execution, Axis over);
  /// This rank's part of a section among the ranks from which backwards gather it.
  [[nodiscard]] std::span<std::byte> secondary_part(const Section& section) const;

  ParameterMemory& memory_;
  UnitSlots slots_;
  BufferRef secondary_;                    ///< null: no micro-batch waits for its backward
  std::int32_t waiting_for_backward_ = 0;  ///< forwards of executions
  std::vector<bool> is_stale_;  ///< by execution: others have updated parts of its weights, which are not gathered yet
};

}  // namespace plumbline
