#pragma once
/// \file local_logits.h: what a rank has of a micro-batch's logits, before they become their own gradient.
///
/// Checked against: tests/runtime/execution.

#include <functional>

#include "kernels/tensor_view.h"
#include "runtime/execution/rank_share.h"

namespace plumbline {

struct LocalLogits {
  const RankShare& share;
  ConstTensorView values;           ///< a row for each token
  std::int64_t first_class = 0;     ///< of its columns
  std::int64_t first_sequence = 0;  ///< of its rows, in the global batch
};

/// On the thread of the rank, with its compute lane at work.
using LogitsVisit = std::function<void(const LocalLogits&)>;

}  // namespace plumbline
