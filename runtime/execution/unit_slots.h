#pragma once
/// \file unit_slots.h: two units that are whole for a while: parameters of ZeRO-3, gradients of ZeRO-2 and 3.
///
/// Answers: where a unit lies. Model: the program names the slot (ParameterGather::slot, ComputePass::gradients), at
/// either end of one buffer; a unit that a later one of the same pass reads too, the embedding of a tied head, has a
/// place of its own behind them. The data lane works on them: its marks say until when. Source: PyTorch's FSDP2 (two
/// buffers of each kind). Checked against: tests/runtime/execution.

#include "core/program/program.h"
#include "runtime/execution/parameter_memory.h"

namespace plumbline {

class UnitSlots {
 public:
  /// `of_unit`: what of a unit is whole; `elements`: of all that lies here at once.
  UnitSlots(ParameterMemory& memory, std::int64_t UnitElements::*of_unit, NumberFormat format, std::int64_t elements)
      : memory_(memory), of_unit_(of_unit), format_(format), elements_(elements) {}

  /// Binds the buffer unless it is there. `lane`: that writes first.
  void bind(Stream lane);
  /// Gives it up behind whatever works on it.
  void release();
  [[nodiscard]] bool holds(std::int32_t unit, UnitSlot slot) const { return units_[place(slot)] == unit; }
  /// A unit takes a slot, whatever was there. What worked on that is passed for `lane`.
  void put(std::int32_t unit, UnitSlot slot, Stream lane);
  /// Whether the unit that stays came by this call.
  [[nodiscard]] bool put_staying();
  void drop_staying() { holds_staying_ = false; }
  /// Throws InternalError where the unit is not here.
  [[nodiscard]] std::byte* data(std::int32_t unit) const;
  /// The data lane works on the unit until what it was given has run.
  void mark_busy(std::int32_t unit);
  /// Until when on the unit that stays.
  [[nodiscard]] Mark staying_busy() const { return busy_.back(); }

 private:
  /// Throws InternalError where the program names none.
  [[nodiscard]] static std::size_t place(UnitSlot slot);
  /// Which of the two has the unit; -1: neither.
  [[nodiscard]] std::int32_t find(std::int32_t unit) const;
  [[nodiscard]] std::int64_t bytes_of_unit(std::int32_t unit) const;

  ParameterMemory& memory_;
  std::int64_t UnitElements::*of_unit_;
  NumberFormat format_;
  std::int64_t elements_;
  BufferRef buffer_;
  std::array<std::int32_t, 2> units_{-1, -1};
  std::array<Mark, 3> busy_;  ///< of both, and of the unit that stays
  bool holds_staying_ = false;
};

}  // namespace plumbline
