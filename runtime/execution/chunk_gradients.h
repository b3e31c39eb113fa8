#pragma once
/// \file chunk_gradients.h: gradients of pipeline chunks that are whole until the chunk's last backward of the step.
///
/// Answers: where a unit's gradients lie. Model: one buffer for each chunk, from its first weight gradients to their
/// reduction; zeros at first. The data lane works on it before it is given up. Source: PyTorch,
/// torch/distributed/pipelining/stage.py (backward_maybe_with_nosync). Not modelled: units that come one by one, as the
/// first backward makes them. Checked against: tests/runtime/execution/chunk_gradients_test.cpp.

#include <span>
#include <vector>

#include "runtime/execution/parameter_memory.h"

namespace plumbline {

class ChunkGradients {
 public:
  explicit ChunkGradients(ParameterMemory& memory) : memory_(memory), places_(memory.layout.units.size()) {}

  /// Binds the buffer of a chunk's units unless it is there.
  void open(std::span<const std::int32_t> units);
  [[nodiscard]] bool hold(std::int32_t unit) const { return places_[static_cast<std::size_t>(unit)].buffer != nullptr; }
  /// Of a unit that they hold.
  [[nodiscard]] std::byte* data(std::int32_t unit) const;
  /// Gives the units' buffer up behind what the data lane was given.
  void release(std::span<const std::int32_t> units);

 private:
  struct Place {
    BufferRef buffer;
    std::int64_t first = 0;  ///< byte of the buffer
  };

  ParameterMemory& memory_;
  std::vector<Place> places_;  ///< by unit
};

}  // namespace plumbline
