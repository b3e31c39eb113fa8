#pragma once
/// \file replay_rows.h: layers that are replayed in a row: what the replay of one hands on to that of the next.
///
/// Checked against: tests/runtime/execution/recompute_test.cpp (gradients of one rank, bytes as predicted).

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/execution/block_interpreter.h"

namespace plumbline {

class ReplayRows {
 public:
  using Place = std::pair<std::int32_t, std::int32_t>;  ///< execution and micro-batch
  /// Runs the block of `place` again: from what the block before handed on where it is not the first of its row.
  void replay(BlockInterpreter& block, const Place& place) {
    std::vector<BufferRef> inputs;
    if (auto given = handed_on_.extract(place); !given.empty()) inputs = std::move(given.mapped());
    std::vector<BufferRef> outputs = block.recompute(std::move(inputs));
    if (!outputs.empty()) handed_on_[{place.first + 1, place.second}] = std::move(outputs);
  }

 private:
  std::map<Place, std::vector<BufferRef>> handed_on_;
};

}  // namespace plumbline
