#include "planner/frameworks/launch/script_parts.h"

namespace plumbline {
namespace {

std::string argument(std::string_view name, std::string_view value) {
  return ", " + std::string(name) + "=" + std::string(value);
}

}  // namespace

std::string torch_optimizer(Optimizer optimizer, std::string_view parameters, const ScriptNumbers& n) {
  const std::string rate = std::string(parameters) + argument("lr", n.learning_rate);
  const bool decays = facts(optimizer).reads.has(Hyperparameter::weight_decay);
  const std::string decay = (decays ? argument("weight_decay", n.weight_decay) : "") + ")";
  const std::string betas = ", betas=(" + std::string(n.beta1) + ", " + std::string(n.beta2) + ")";
  const std::string epsilon = argument("eps", n.epsilon);
  switch (optimizer) {
    case Optimizer::sgd: return "torch.optim.SGD(" + rate + decay;
    case Optimizer::momentum: return "torch.optim.SGD(" + rate + argument("momentum", n.momentum) + decay;
    case Optimizer::adagrad: return "torch.optim.Adagrad(" + rate + epsilon + decay;
    case Optimizer::rmsprop: return "torch.optim.RMSprop(" + rate + argument("alpha", n.beta2) + epsilon + decay;
    case Optimizer::adam: return "torch.optim.Adam(" + rate + betas + epsilon + decay;
    case Optimizer::lion: return "Lion(" + rate + betas + decay;
    case Optimizer::muon:  // refused by framework records: torch.optim.Muon takes whole matrices alone
    case Optimizer::adamw: break;
  }
  return "torch.optim.AdamW(" + rate + betas + epsilon + decay;
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
