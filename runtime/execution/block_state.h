#pragma once
/// \file block_state.h: what one execution of a block holds for one micro-batch, from its forward to its backward.
///
/// Not modelled: sizes; each buffer knows its own. Checked against: tests/runtime/execution.

#include "runtime/execution/expert_routes.h"

namespace plumbline {

struct BlockState {
  std::vector<BufferRef> buffers;  ///< by buffer of the block's program
  // Of a block with experts, once its tokens were routed.
  std::shared_ptr<const RouteTable> routes;
  ExchangedRows rows;
};

}  // namespace plumbline
