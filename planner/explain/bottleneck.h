#pragma once
/// \file bottleneck.h: what holds a step back, in a sentence.

#include <string>

#include "core/plan/plan.h"

namespace plumbline {

/// The largest share of the step, the largest loss alongside the model's own arithmetic, and what usually shrinks it.
[[nodiscard]] std::string bottleneck_sentence(const Plan& plan);

}  // namespace plumbline
