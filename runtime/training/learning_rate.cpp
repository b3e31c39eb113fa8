#include "runtime/training/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/base/errors.h"

namespace plumbline {
namespace {

void require(bool holds, std::string_view where, const std::string& what, const std::string& expected) {
  if (!holds) throw InputError({std::string(where), what, expected, ""});
}

bool is_rate(double value) { return std::isfinite(value) && value >= 0; }

double between(double first, double last, double weight_of_last) { return first + (last - first) * weight_of_last; }

}  // namespace

void check_learning_rate(const LearningRateSchedule& s, std::string_view where) {
  require(is_rate(s.peak), where, "the learning rate is " + std::to_string(s.peak), "a number of 0 or more");
  require(is_rate(s.final_rate) && s.final_rate <= s.peak, where,
          "the final learning rate is " + std::to_string(s.final_rate), "from 0 to " + std::to_string(s.peak));
  require(s.steps >= 1, where, "the run has " + std::to_string(s.steps) + " steps", "1 or more");
  require(s.warmup_steps >= 0 && s.decay_steps >= 0 && s.warmup_steps <= s.steps &&
              s.decay_steps <= s.steps - s.warmup_steps,
          where,
          "warm-up of " + std::to_string(s.warmup_steps) + " and decay of " + std::to_string(s.decay_steps) + " steps",
          "at most " + std::to_string(s.steps) + " together");
  require(is_rate(s.decay_factor) && s.decay_factor <= 1, where,
          "the learning rate decays by a factor of " + std::to_string(s.decay_factor), "from 0 to 1");
  require(s.decay_every >= 1, where, "the learning rate falls every " + std::to_string(s.decay_every) + " steps",
          "1 or more");
}

double learning_rate(const LearningRateSchedule& s, std::int64_t step) {
  if (step < s.warmup_steps) return s.peak * static_cast<double>(step + 1) / static_cast<double>(s.warmup_steps);
  const auto done = static_cast<double>(std::min(step, s.steps) - s.warmup_steps);
  const double fraction = done / static_cast<double>(std::max<std::int64_t>(s.steps - s.warmup_steps, 1));
  switch (s.shape) {
    case LearningRateShape::constant: return s.peak;
    case LearningRateShape::cosine:
      return between(s.final_rate, s.peak, (1 + std::cos(std::numbers::pi * fraction)) / 2);
    case LearningRateShape::linear: return between(s.peak, s.final_rate, fraction);
    case LearningRateShape::stable_then_decay: {
      const std::int64_t decayed = std::min(step, s.steps) - (s.steps - s.decay_steps);
      if (decayed <= 0) return s.peak;
      return between(s.peak, s.final_rate, static_cast<double>(decayed) / static_cast<double>(s.decay_steps));
    }
    case LearningRateShape::inverse_square_root:
      return s.peak *
             std::sqrt(static_cast<double>(std::max<std::int64_t>(s.warmup_steps, 1)) / static_cast<double>(step + 1));
    case LearningRateShape::exponential: return s.peak * std::pow(s.decay_factor, done);
    case LearningRateShape::step: {
      const std::int64_t falls = (std::min(step, s.steps) - s.warmup_steps) / s.decay_every;
      return s.peak * std::pow(s.decay_factor, static_cast<double>(falls));
    }
  }
  return s.peak;
}

}  // namespace plumbline
