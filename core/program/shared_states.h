#pragma once
/// \file shared_states.h: what ranks send to share their states, and how gradients leave a rank.
///
/// Answers bytes, times or shares of one rank, a stage or a segment: each of them holds these values, and nothing is
/// copied field by field from one to the next. Model and source: core/cost/state_sharing.h (bytes), step_time.h (times)
/// and matrix_gathers.h. Not modelled: which collective sends them (core/program/program.h). Checked against:
/// tests/unit/core/program/state_sharing_test.cpp.

#include "core/program/stage_action.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// What one rank sends to share its states, in bytes or in the time that it takes alone.
template <class Amount>
struct SharedStates {
  Amount gather{0};           ///< per forward: sharded parameters
  Amount regather{0};         ///< per backward: those that recompute has let go of, once more
  Amount scatter{0};          ///< per micro-batch: gradients
  Amount reduction{0};        ///< per step: gradients that are not scattered per micro-batch
  Amount update{0};           ///< per step: weights that the optimizer has updated
  Amount gather_backward{0};  ///< per backward: sharded parameters, from the ranks that then hold them
};
using SharingBytes = SharedStates<Bytes>;
using SharingTimes = SharedStates<Picoseconds>;
/// In a backward.
[[nodiscard]] inline Picoseconds gathered_for_backward(const SharingTimes& t) { return t.gather_backward + t.regather; }

/// How gradients leave a rank in its last backward.
struct ReductionRule {
  double late_share = 0;    ///< cannot start before the backward has ended
  double bucket_share = 0;  ///< one bucket over the rank's gradients
  /// The same of gradients that are scattered after every micro-batch; 0: unit by unit.
  double scatter_bucket_share = 0;
  bool is_by_chunk = false;  ///< but for the rank's first chunk, a chunk's leave in one piece behind its last backward
};

/// What an optimizer that needs whole matrices gathers once per step.
struct MatrixGathers {
  MatrixExchange exchange = MatrixExchange::gather;
  Bytes shards{0};  ///< sent to ranks that share states, and to those that divide experts
  Bytes slices{0};  ///< sent to tensor-parallel ranks
  Bytes buffer{0};  ///< held while matrices are updated
};

}  // namespace plumbline
