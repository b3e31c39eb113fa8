#pragma once
/// \file state_sharing.h: which ranks divide a rank's states among them, and which hold another copy.
///
/// Model, source and what it was checked against: step_time.h.

#include "core/cost/step_time.h"

namespace plumbline {

/// Parameters that the same ranks hold: those that divide their states, and those that hold another copy.
struct StepPricer::Sharing {
  RankGroup shard;
  RankGroup secondary;  ///< over which a backward gathers; of as many ranks as `shard`: that
  RankGroup replicate;
  Axis axis = Axis::gradient;
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
};

}  // namespace plumbline
