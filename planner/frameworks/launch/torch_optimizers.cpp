#include "planner/frameworks/launch/torch_optimizers.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Null where PyTorch has it, or no optimizer is named.
const TorchOptimizer* of_package(std::optional<Optimizer> optimizer) {
  if (!optimizer) return nullptr;
  const TorchOptimizer& row = torch_optimizer_of(*optimizer);
  return row.package.empty() ? nullptr : &row;
}

bool slices_whole_parameters(const Strategy& s, const NetworkFacts& network) {
  return torch_optimizer_of(network.optimizer).takes == Takes::whole_parameters &&
         (s.zero_stage > 0 || s.tensor_parallel > 1);
}

bool takes_plain_slices(const NetworkFacts& network) {
  return torch_optimizer_of(network.optimizer).takes == Takes::plain_slices;
}
bool divides_products(const Strategy& s, const NetworkFacts& network) {
  return takes_plain_slices(network) && s.tensor_parallel > 1;
}
bool divides_anything(const Strategy& s, const NetworkFacts& network) {
  return takes_plain_slices(network) && (s.tensor_parallel > 1 || s.zero_stage > 1);
}

}  // namespace

const TorchOptimizer& torch_optimizer_of(Optimizer optimizer) {
  const auto row = std::find_if(torch_optimizers.begin(), torch_optimizers.end(),
                                [optimizer](const TorchOptimizer& one) { return one.optimizer == optimizer; });
  check(row != torch_optimizers.end(), "every optimizer is in torch_optimizers");
  return *row;
}

std::vector<Launchable<Optimizer>> launched_optimizers(OptimizersOf of, std::string_view momentum) {
  std::vector<Launchable<Optimizer>> launched;
  for (const OptimizerFacts& known : optimizer_table) {
    const TorchOptimizer& row = torch_optimizer_of(known.optimizer);
    if (row.takes == Takes::whole_matrices || (of == OptimizersOf::pytorch && !row.package.empty())) continue;
    std::string_view spelling = row.package.empty() ? row.class_name() : row.constructor;
    if (row.optimizer == Optimizer::momentum) spelling = momentum;
    launched.push_back({row.optimizer, spelling, row.source});
  }
  return launched;
}

FrameworkRule whole_parameters_rule() {
  return {
      "trains on whole parameters alone (ZeRO-0, no tensor parallelism) with an optimizer whose class takes no slices "
      "of them",
      "torch/optim: norms of DTensors in place raise; measured with PyTorch 2.15 on the CPU", slices_whole_parameters};
}

FrameworkRule plain_slices_rule(DTensorsOf of) {
  constexpr std::string_view source = "measured with bitsandbytes 0.50.2 and PyTorch 2.15 on the CPU";
  if (of == DTensorsOf::tensor_parallel)
    return {"trains without tensor parallelism where an optimizer's class takes no DTensors", source, divides_products};
  return {"trains without tensor parallelism, ZeRO-2 and ZeRO-3 where an optimizer's class takes no DTensors", source,
          divides_anything};
}

std::string package_import(std::optional<Optimizer> optimizer) {
  const TorchOptimizer* const row = of_package(optimizer);
  if (row == nullptr) return "";
  return "from " + std::string(row->module()) + " import " + std::string(row->class_name()) + "\n";
}

std::string package_sentence(std::optional<Optimizer> optimizer) {
  const TorchOptimizer* const row = of_package(optimizer);
  if (row == nullptr) return "";
  return std::string(row->class_name()) + " of the package " + std::string(row->package) + ": PyTorch has none";
}

}  // namespace plumbline
