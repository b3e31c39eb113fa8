#pragma once
/// \file early_stopping.h: when a run ends because its held-out loss improves no more.
///
/// Model: each held-out loss is compared with the lowest so far; one that is not lower, or is no number, counts, and
/// `patience` of them in a row end the run. Source: Prechelt, "Early stopping - but when?" (1998), section 2.2, class
/// UP, with the lowest loss in place of the last; as `patience` of PyTorch Lightning's EarlyStopping with min_delta 0.
/// Not modelled: going back to the weights of the lowest loss (checkpoints keep them).
/// Checked against: tests/runtime/training/early_stopping_test.cpp.

#include <cstdint>
#include <optional>

namespace plumbline {

/// What a checkpoint keeps of it.
struct EarlyStoppingState {
  std::optional<double> lowest = {};  ///< held-out loss; none: nothing was evaluated
  std::int64_t without_improvement = 0;
  bool operator==(const EarlyStoppingState&) const = default;
};

class EarlyStopping {
 public:
  /// `patience`: 0: never.
  explicit EarlyStopping(std::int64_t patience, EarlyStoppingState state = {}) : patience_(patience), state_(state) {}

  /// Notes a held-out loss. Whether the run ends with it.
  [[nodiscard]] bool ends_with(double held_out_loss);
  [[nodiscard]] const EarlyStoppingState& state() const { return state_; }

 private:
  std::int64_t patience_;
  EarlyStoppingState state_;
};

}  // namespace plumbline
