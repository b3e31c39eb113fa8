#pragma once
/// \file loss_scale.h: the factor on the loss that keeps fp16 gradients above the smallest numbers.
///
/// Model: a step whose gradients overflow is skipped and halves the scale, not below `smallest`; `growth_interval` good
/// steps in a row double it, not above `largest`. Powers of two: scaling and unscaling change no mantissa.
/// Source: Micikevicius et al., "Mixed precision training" (arXiv:1710.03740), section 3.2; the defaults are those of
/// PyTorch's GradScaler (initial 65536, interval 2000).
/// Not modelled: hysteresis (several overflows before a halving).
/// Checked against: tests/runtime/training/loss_scale_test.cpp.

#include <cstdint>

namespace plumbline {

struct LossScaleRule {
  double initial = 65536;
  double smallest = 1;
  double largest = 4294967296.0;  ///< 2^32: larger ones overflow fp16 with any loss that is worth a step
  std::int64_t growth_interval = 2000;
};

/// What a checkpoint keeps of it.
struct LossScaleState {
  double scale = 0;
  std::int64_t good_steps = 0;  ///< since the last change
  std::int64_t skipped_steps = 0;
  bool operator==(const LossScaleState&) const = default;
};

enum class GradientHealth : std::uint8_t { finite, overflow };

class DynamicLossScale {
 public:
  /// Throws InputError for rules that are not positive, ordered, finite powers of two.
  explicit DynamicLossScale(const LossScaleRule& rule);
  DynamicLossScale(const LossScaleRule& rule, const LossScaleState& resumed);

  [[nodiscard]] double scale() const { return state_.scale; }
  [[nodiscard]] const LossScaleState& state() const { return state_; }
  /// After each step, with what all ranks agree on. Whether the optimizer may take the step.
  [[nodiscard]] bool update(GradientHealth health);

 private:
  LossScaleRule rule_;
  LossScaleState state_;
};

}  // namespace plumbline
