#include "planner/frameworks/launch/script_parts.h"

#include "planner/frameworks/launch/torch_optimizers.h"

namespace plumbline {
namespace {

std::string argument(std::string_view name, std::string_view value) {
  return ", " + std::string(name) + "=" + std::string(value);
}

}  // namespace

std::string torch_optimizer(Optimizer optimizer, std::string_view parameters, const ScriptNumbers& n) {
  // What takes whole matrices alone is refused by framework records.
  if (!torch_optimizer_of(optimizer).takes_slices) optimizer = Optimizer::adamw;
  const TorchOptimizer& row = torch_optimizer_of(optimizer);
  const Hyperparameters& reads = facts(optimizer).reads;
  std::string call(row.package.empty() ? row.constructor : row.class_name());
  call += "(" + std::string(parameters) + argument("lr", n.learning_rate);
  if (reads.has(Hyperparameter::momentum)) call += argument("momentum", n.momentum);
  if (reads.has(Hyperparameter::beta1))
    call += ", betas=(" + std::string(n.beta1) + ", " + std::string(n.beta2) + ")";
  else if (reads.has(Hyperparameter::beta2))
    call += argument("alpha", n.beta2);
  if (reads.has(Hyperparameter::epsilon)) call += argument("eps", n.epsilon);
  if (reads.has(Hyperparameter::weight_decay)) call += argument("weight_decay", n.weight_decay);
  return call + ")";
}

std::string_view decayed_function() {
  return R"(def decayed(parameters):
    """Matrices, and biases and norms, which no weight decay takes. What ZeRO-3 spread says its shape in ds_shape."""
    groups = {True: [], False: []}
    for parameter in parameters:
        if parameter.requires_grad:
            groups[len(getattr(parameter, "ds_shape", parameter.shape)) > 1].append(parameter)
    return [{"params": group} | ({} if decays else {"weight_decay": 0.0}) for decays, group in groups.items() if group]
)";
}

std::string_view rate_factor_function() {
  return R"(def rate_factor(schedule, steps, warmup, final):
    """The share of the peak learning rate in each step: a straight warm-up, then the schedule, down to `final`."""

    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        done = (min(step, steps) - warmup) / max(1, steps - warmup)
        if schedule == "linear":
            return 1 + (final - 1) * done
        if schedule == "cosine":
            return final + (1 - final) * (1 + math.cos(math.pi * done)) / 2
        if schedule == "inverse-sqrt":
            return math.sqrt(max(1, warmup) / (step + 1))
        return 1.0

    return factor
)";
}

}  // namespace plumbline
