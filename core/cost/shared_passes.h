#pragma once
/// \file shared_passes.h: what both passes of a stage take where states are gathered and reduced beside them.
///
/// Answers picoseconds per micro-batch. Model: gathers run beside a pass but for the first unit's, reductions beside
/// the backward but for the last unit's (overlap.h). A host that runs ahead goes on launching while the device waits
/// for what is left exposed: a pass waits for the rest of its own launches, and both together take as long as their
/// kernels with what sharing leaves exposed or as long as without sharing, whichever is longer.
/// Source: the stream semantics of CUDA: collectives are launched like kernels, and the host waits for neither.
/// Not modelled: the time to launch the collectives. Checked against: tests/property/faster_device_test.cpp (a faster
/// device lengthens no step); tests/unit/core/cost/shared_passes_test.cpp, by hand.

#include "core/cost/step_time.h"

namespace plumbline {

/// A pass beside communication, of which `alone` has nothing to run beside.
struct SharedPass {
  Picoseconds compute{0};  ///< without waiting for the host
  Picoseconds alone{0};
  Picoseconds beside{0};
  double slowdown = 0;

  [[nodiscard]] Picoseconds time(Picoseconds wait) const;
  /// The least waiting, from `least` to `most`, with which the pass takes `time`.
  [[nodiscard]] Picoseconds wait_for(Picoseconds time, Picoseconds least, Picoseconds most) const;
};

/// What a stage sends to share its states, and how much of its scatter nothing is left to hide.
struct StageSharing {
  SharingTimes times;
  Picoseconds last_scatter{0};
  double slowdown = 0;
  bool splits_backward = false;
};

/// `state_traffic`: accumulation and copying, the only ones of its times that are read.
[[nodiscard]] RankTimes shared_passes(const StageCost& stage, const RankTimes& state_traffic,
                                      const StageSharing& sharing);

}  // namespace plumbline
