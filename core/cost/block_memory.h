#pragma once
/// \file block_memory.h: the bytes that a block's instructions hold, class by class.
///
/// Answers bytes per rank, for one micro-batch: what is live, and the most of it. Model: a fold over instructions.
/// Not modelled: alignment, an allocator's loss. Checked against: tests/unit/core/program/block_program_test.cpp.

#include <algorithm>
#include <optional>

#include "core/program/block_program.h"

namespace plumbline {

class BlockMemory {
 public:
  explicit BlockMemory(const BlockProgram& program) : program_(program), classes_(program.buffers.size()) {}

  void hold(std::int32_t buffer, MemoryClass memory_class);
  void drop(std::int32_t buffer);
  void run(BlockPass pass);
  /// The most is counted from here.
  void begin() { most_ = live_; }

  [[nodiscard]] std::optional<MemoryClass> class_of(std::int32_t buffer) const {
    return classes_[static_cast<std::size_t>(buffer)];
  }
  [[nodiscard]] Bytes most(MemoryClass c) const { return most_[c]; }
  [[nodiscard]] Bytes live(MemoryClass c) const { return live_[c]; }

 private:
  [[nodiscard]] Bytes bytes(std::int32_t buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)].bytes;
  }
  const BlockProgram& program_;
  std::vector<std::optional<MemoryClass>> classes_;  ///< by buffer; none: not allocated
  MemoryBreakdown live_;
  MemoryBreakdown most_;
};

}  // namespace plumbline
