#include "planner/frameworks/launch/script_parts.h"

#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline {
namespace {

std::string argument(std::string_view name, std::string_view value) {
  return ", " + std::string(name) + "=" + std::string(value);
}

}  // namespace

std::string torch_optimizer(Optimizer optimizer, std::string_view parameters, const ScriptNumbers& n) {
  // What takes whole matrices alone is refused by framework records.
  if (torch_optimizer_of(optimizer).takes == Takes::whole_matrices) optimizer = Optimizer::adamw;
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

std::string decayed_function() { return filled_script(script_template("launch/templates/decayed"), {}); }

std::string rate_factor_function() { return filled_script(script_template("launch/templates/rate_factor"), {}); }

}  // namespace plumbline
