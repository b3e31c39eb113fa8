#pragma once
/// \file block_state.h: what one execution of a block holds for one micro-batch, from its forward to its backward.
///
/// Not modelled: sizes; each buffer knows its own. Checked against: tests/runtime/execution.

#include "runtime/execution/backend.h"
#include "runtime/execution/expert_routes.h"

namespace plumbline {

/// What an op makes on the side: statistics; or probabilities, mask and dropped probabilities; or routing.
using SideBuffers = std::array<Held, 4>;

/// Gradients of an op's outputs that wait for the pass that makes weight gradients.
struct DeferredGradient {
  std::int32_t op = 0;  ///< by OpId
  std::vector<Held> of_outputs;
};

struct BlockState {
  std::vector<Held> tensors;      ///< by TensorId
  std::vector<SideBuffers> side;  ///< by OpId
  std::vector<Held> gradients;    ///< by TensorId; during a backward
  std::vector<DeferredGradient> deferred;
  ExpertArrivals arrivals;  ///< of a block with experts, once its tokens were dispatched

  void clear() { *this = {}; }
};

}  // namespace plumbline
