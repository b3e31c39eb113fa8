#pragma once
/// \file strategy_json.h: the strategy of a plan file: degrees, schedule, sharding, recompute, precision, optimizer.

#include "core/io/json.h"
#include "core/plan/strategy.h"
#include "core/training/training.h"

namespace plumbline {

/// "strategy" of models/schemas/plan.schema.json, with optimizer_precision where it is not the recipe's. Precisions and
/// optimizer come from `training`.
[[nodiscard]] Json to_json(const Strategy& strategy, const Training& training);
/// Strict; sets precision, gradient format, optimizer and its format of `training`. Absent: expert_tensor_parallel (1),
/// gradient_precision and optimizer_precision (the recipe's). Products of degrees that exceed ten million GPUs are
/// refused here, so that whoever reads a strategy may multiply them. Throws InputError.
[[nodiscard]] Strategy strategy_from_json(const JsonPlace& place, Training& training);

}  // namespace plumbline
