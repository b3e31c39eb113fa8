#pragma once
/// \file gathered_rows.h: tensors with the rows of all tensor-parallel ranks, gathered once in a pass, or by one before
/// it that kept them.
///
/// Checked against: tests/unit/core/program/block_program_test.cpp, tests/property/block_program_test.cpp.

#include <utility>

#include "core/program/block_emitter.h"
#include "core/program/block_facts.h"

namespace plumbline {

class GatheredRows {
 public:
  /// `kept`: of the block's values.
  GatheredRows(const BlockFacts& facts, BlockEmitter& emit, const std::vector<std::int32_t>& kept)
      : f_(facts), emit_(emit), kept_(kept), whole_(facts.block.tensors().size(), no_buffer) {}

  /// A buffer with all rows of `tensor`, for `reader`. `own`: this rank's rows, which are all where it is not sliced.
  [[nodiscard]] std::int32_t rows(OpId reader, TensorId tensor, std::int32_t own,
                                  MemoryClass memory_class = MemoryClass::working_buffers) {
    if (!f_.is_sliced(tensor)) return own;
    if (kept_[slot(tensor)] != no_buffer) return kept_[slot(tensor)];
    std::int32_t& whole = whole_[slot(tensor)];
    if (whole == no_buffer) {
      whole = emit_.allocate({tensor, BufferRows::whole}, memory_class);
      emit_.collective(reader, Collective::all_gather, Axis::tensor, {own, whole});
    }
    return whole;
  }
  [[nodiscard]] bool holds(TensorId tensor) const { return whole_[slot(tensor)] != no_buffer; }
  /// The buffer that holds them is another's from here.
  [[nodiscard]] std::int32_t take(TensorId tensor) { return std::exchange(whole_[slot(tensor)], no_buffer); }
  /// Nothing, for a tensor that this pass did not gather.
  void release(TensorId tensor) { emit_.release(whole_[slot(tensor)]); }

 private:
  const BlockFacts& f_;
  BlockEmitter& emit_;
  const std::vector<std::int32_t>& kept_;  ///< by tensor
  std::vector<std::int32_t> whole_;        ///< by tensor
};

}  // namespace plumbline
