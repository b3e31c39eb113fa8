#pragma once
/// \file gradient_sums.h: gradients as kernels add to them, and their sums over ranks.
///
/// Answers: views. Model: gradients are sums over all tokens of the batch. Under ZeRO-2
/// and 3 a unit's are whole in the slot that its backward names (unit_slots.h), or with all of its chunk's
/// (chunk_gradients.h), until they are scattered into the ranks' parts. Reductions are work of the data lane: they are
/// only given to it here. Source: ZeRO, arXiv:1910.02054, section 5. Not modelled: reductions in another format than
/// the gradients'. Checked against: tests/runtime/execution (numbers and bytes of every strategy).

#include "runtime/execution/chunk_gradients.h"
#include "runtime/execution/unit_slots.h"

namespace plumbline {

class GradientSums {
 public:
  explicit GradientSums(ParameterMemory& memory);

  [[nodiscard]] const ParameterLayout& layout() const { return memory_.layout; }
  /// Of an op's parameter; [rows, columns]. Nothing where the parameter is frozen.
  [[nodiscard]] TensorView gradient(std::int32_t execution, TensorId tensor);
  void begin_step() { memory_.zero_gradients(); }
  /// Before an execution's weight gradients are made. ZeRO-2 and 3: in this slot.
  void open(std::int32_t execution, UnitSlot slot);
  void release() { slots_.release(); }
  /// The same of gradients that wait for their chunk's last backward; `units`: that the chunk trains.
  void open_chunk(std::span<const std::int32_t> units) { of_chunks_.open(units); }
  [[nodiscard]] bool keeps_chunk(std::span<const std::int32_t> units) const { return of_chunks_.hold(units.front()); }
  void release_chunk(std::span<const std::int32_t> units) { of_chunks_.release(units); }
  /// ZeRO-2 and 3: a unit's gradients, of one micro-batch or all, into the rank's part.
  void scatter(std::int32_t execution);
  /// Once per step: what has to be summed over ranks of a unit's accumulated gradients.
  void reduce(std::int32_t execution);
  /// Whether that is anything.
  [[nodiscard]] bool is_reduced(std::int32_t execution) const;
  /// Both copies of a tied embedding get the sum of both gradients.
  void reduce_tied();
  [[nodiscard]] bool has_tied_copy() const { return layout().tied_embedding >= 0; }
  /// Gradients of what every tensor-parallel rank holds whole, but makes from a part of the tokens or heads: packed
  /// into one buffer, whatever part of them the rank has.
  void reduce_partial();
  [[nodiscard]] bool has_partial() const;

 private:
  [[nodiscard]] std::span<std::byte> whole(const Section& section) const;
  void open_zeros(std::int32_t execution);
  void sum_over(Communicator& group, std::span<std::byte> gradients);
  /// Calls `copy(place in the packed buffer, place among the gradients, bytes)` for what the rank has of partial ones.
  template <class Copy>
  void for_partial(std::byte* packed, Copy copy) const;

  ParameterMemory& memory_;
  UnitSlots slots_;
  ChunkGradients of_chunks_;
};

}  // namespace plumbline
