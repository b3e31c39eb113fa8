#pragma once
/// \file rank_batches.h: a rank's part of the tokens of a step: on the host, and of the micro-batch at hand on the
/// device.
///
/// Model: every micro-batch has its place on the host (step_tokens.h); the device has room for one. Checked against:
/// tests/runtime/execution.

#include <functional>

#include "core/plan/strategy.h"
#include "runtime/execution/rank_device.h"
#include "runtime/execution/rank_share.h"
#include "runtime/execution/step_tokens.h"
#include "runtime/training/data_feed.h"

namespace plumbline {

/// The sequences of a rank's micro-batch.
using BatchSource = std::function<TokenBatch(const BatchLayout&, std::int32_t micro_batch)>;

/// Where a rank begins to read a micro-batch.
struct FirstRead {
  std::int64_t sequence = 0;  ///< of the global batch
  std::int64_t token = 0;     ///< of each sequence
};

/// Of a micro-batch, in the device's memory.
struct LocalBatch {
  const std::int32_t* tokens = nullptr;
  const std::int32_t* targets = nullptr;
  std::int64_t first_sequence = 0;  ///< of the global batch
};

class RankBatches {
 public:
  RankBatches(const Strategy& strategy, const RankShare& share, RankDevice& device);

  /// What the host has of the step before is out of date.
  void begin_step(const BatchSource& source);
  /// What the device has is.
  void begin_pass() { loaded_ = -1; }
  /// Puts all micro-batches where the device fetches them from.
  void put_all();
  /// `at_hand` is this micro-batch from here on.
  void load(std::int32_t micro_batch);
  [[nodiscard]] const LocalBatch& at_hand() const { return at_hand_; }
  [[nodiscard]] FirstRead first_read(std::int32_t micro_batch) const;

 private:
  /// A micro-batch's tokens, where the device fetches them from.
  void put(std::int32_t micro_batch);

  const Strategy& strategy_;
  const RankShare& share_;
  ComputeDevice& device_;
  StepTokens tokens_;
  std::int32_t* ids_;  ///< in the device's memory: tokens, then targets
  BatchSource source_;
  std::int32_t loaded_ = -1;  ///< micro-batch that the device has
  LocalBatch at_hand_;
};

}  // namespace plumbline
