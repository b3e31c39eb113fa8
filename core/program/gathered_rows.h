#pragma once
/// \file gathered_rows.h: tensors with the rows of all tensor-parallel ranks, gathered once in a pass.
///
/// Checked against: tests/unit/core/program/block_program_test.cpp, tests/property/block_program_test.cpp.

#include "core/program/block_emitter.h"
#include "core/program/block_facts.h"

namespace plumbline {

class GatheredRows {
 public:
  GatheredRows(const BlockFacts& facts, BlockEmitter& emit)
      : f_(facts), emit_(emit), whole_(facts.block.tensors().size(), no_buffer) {}

  /// A buffer with all rows of `tensor`, for `reader`. `own`: this rank's rows, which are all where it is not sliced.
  [[nodiscard]] std::int32_t rows(OpId reader, TensorId tensor, std::int32_t own) {
    if (!f_.is_sliced(tensor)) return own;
    std::int32_t& whole = whole_[slot(tensor)];
    if (whole == no_buffer) {
      whole = emit_.allocate({tensor, BufferRows::whole});
      emit_.collective(reader, Collective::all_gather, Axis::tensor, {own, whole});
    }
    return whole;
  }
  [[nodiscard]] bool holds(TensorId tensor) const { return whole_[slot(tensor)] != no_buffer; }
  /// Nothing, for a tensor that was not gathered.
  void release(TensorId tensor) { emit_.release(whole_[slot(tensor)]); }

 private:
  const BlockFacts& f_;
  BlockEmitter& emit_;
  std::vector<std::int32_t> whole_;  ///< by tensor
};

}  // namespace plumbline
