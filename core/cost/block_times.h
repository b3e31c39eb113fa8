#pragma once
/// \file block_times.h: what the kernels of a block take, while they are summed.
///
/// Model, source and what it was checked against: block_cost.h.

#include "core/cost/block_cost.h"
#include "core/cost/launches.h"

namespace plumbline {

/// Sums in seconds before they become integers.
struct BlockPricer::Times {
  Seconds forward{0};
  Seconds backward{0};
  Seconds backward_weight{0};  ///< of backward
  Seconds attention{0};
  Seconds replayed{0};  ///< of forward, by selective checkpointing by operator
  void add_weight_gradient(Seconds time) {
    backward += time;
    backward_weight += time;
  }
  Launches kernels;
  double attention_kernels = 0;     ///< forward
  std::vector<Seconds> op_forward;  ///< by op
  std::vector<double> op_kernels;   ///< by op, forward
};

}  // namespace plumbline
