#pragma once
/// \file script_parts.h: lines of Python that exported scripts share: the optimizer, its learning rate, checkpoints.
///
/// Checked against: tests/unit/planner/frameworks/launch/launch_recipe_test.cpp,
/// tests/integration/launch_script_test.py (rates of the function against those of `plan run`).

#include <string>
#include <string_view>

#include "core/training/optimizer.h"

namespace plumbline {

/// Where a script has its numbers: "args.", "self.hparams.", or "" where each is a name of its own in capitals.
struct ScriptNumbers {
  std::string_view learning_rate, beta1, beta2, epsilon, momentum, weight_decay;
};

/// A call of torch.optim (Lion: of lion_pytorch) on `parameters`, with each number that the optimizer reads
/// (optimizer.h).
[[nodiscard]] std::string torch_optimizer(Optimizer optimizer, std::string_view parameters,
                                          const ScriptNumbers& numbers);
/// decayed(parameters): the groups of an optimizer, of which matrices alone take weight decay, as `plan run` has it.
[[nodiscard]] std::string decayed_function();
/// rate_factor(schedule, steps, warmup, final): the share of the peak in each step, as learning_rate.h has it. Needs
/// `import math`.
[[nodiscard]] std::string rate_factor_function();

}  // namespace plumbline
