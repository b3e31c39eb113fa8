#pragma once
/// \file torch_optimizers.h: what constructs each optimizer in Python, and what files of frameworks call it: one row
/// each.
///
/// Model: which numbers a constructor takes follows from those that the optimizer reads (core/training/optimizer.h):
/// `betas` where it reads both, `alpha` where it reads the second alone, as RMSProp does. Configs of DeepSpeed have the
/// names of the classes. Not listed: flags that are not named for the class.
/// Source: torch/optim of PyTorch 2.13; lucidrains/lion-pytorch; bitsandbytes 0.50; transformers/training_args.py:
/// OptimizerNames. Checked against: tests/unit/planner/frameworks/launch/torch_optimizers_test.cpp, the launch files of
/// tests/golden.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/training/optimizer.h"
#include "planner/frameworks/framework.h"

namespace plumbline {

/// What a class is given to train.
enum class Takes : std::uint8_t {
  slices,            ///< of any parameter, as sharded ranks hold them
  plain_slices,      ///< the same, but no DTensors
  whole_parameters,  ///< it raises for slices, or counts each as a parameter
  whole_matrices     ///< likewise, and takes no other parameter
};

struct TorchOptimizer {
  Optimizer optimizer;
  std::string_view constructor;   ///< with its module
  std::string_view trainer;       ///< of TrainingArguments, or of the exported script
  std::string_view package = {};  ///< that has it; empty: PyTorch
  std::string_view source = "torch/optim";
  Takes takes = Takes::slices;

  [[nodiscard]] constexpr std::string_view class_name() const { return constructor.substr(constructor.rfind('.') + 1); }
  [[nodiscard]] constexpr std::string_view module() const { return constructor.substr(0, constructor.rfind('.')); }
};

/// In the order in which scripts list them, and in which names are read by how they begin: "adamw" before "adam".
inline constexpr std::array torch_optimizers{TorchOptimizer{.optimizer = Optimizer::adamw_8bit,
                                                            .constructor = "bitsandbytes.optim.AdamW8bit",
                                                            .trainer = "adamw_bnb_8bit",
                                                            .package = "bitsandbytes",
                                                            .source = "bitsandbytes/optim",
                                                            .takes = Takes::plain_slices},
                                             TorchOptimizer{.optimizer = Optimizer::paged_adamw_8bit,
                                                            .constructor = "bitsandbytes.optim.PagedAdamW8bit",
                                                            .trainer = "paged_adamw_8bit",
                                                            .package = "bitsandbytes",
                                                            .source = "bitsandbytes/optim",
                                                            .takes = Takes::plain_slices},
                                             TorchOptimizer{Optimizer::adamw, "torch.optim.AdamW", "adamw_torch"},
                                             TorchOptimizer{Optimizer::adam, "torch.optim.Adam", "adam"},
                                             TorchOptimizer{Optimizer::sgd, "torch.optim.SGD", "sgd"},
                                             TorchOptimizer{Optimizer::momentum, "torch.optim.SGD", "momentum"},
                                             TorchOptimizer{Optimizer::adagrad, "torch.optim.Adagrad", "adagrad"},
                                             TorchOptimizer{Optimizer::rmsprop, "torch.optim.RMSprop", "rmsprop"},
                                             TorchOptimizer{.optimizer = Optimizer::lion,
                                                            .constructor = "lion_pytorch.Lion",
                                                            .trainer = "lion_32bit",
                                                            .package = "lion-pytorch",
                                                            .source = "lucidrains/lion-pytorch"},
                                             TorchOptimizer{.optimizer = Optimizer::muon,
                                                            .constructor = "torch.optim.Muon",
                                                            .trainer = "muon",
                                                            .takes = Takes::whole_matrices},
                                             TorchOptimizer{.optimizer = Optimizer::adafactor,
                                                            .constructor = "torch.optim.Adafactor",
                                                            .trainer = "adafactor",
                                                            .takes = Takes::whole_parameters}};
static_assert(torch_optimizers.size() == optimizer_table.size());

[[nodiscard]] const TorchOptimizer& torch_optimizer_of(Optimizer optimizer);

/// Of what a record lists: PyTorch's, or also those of packages.
enum class OptimizersOf : std::uint8_t { pytorch, packages };
/// Those that take every parameter. `momentum`: how SGD with momentum is asked for.
[[nodiscard]] std::vector<Launchable<Optimizer>> launched_optimizers(OptimizersOf of, std::string_view momentum);
/// Of frameworks whose ranks hold slices under ZeRO and tensor parallelism.
[[nodiscard]] FrameworkRule whole_parameters_rule();
/// Where a framework's ranks hold DTensors.
enum class DTensorsOf : std::uint8_t { tensor_parallel, fully_shard };
/// Of frameworks that hold slices as DTensors there; `fully_shard`: under ZeRO-2, ZeRO-3 and tensor parallelism.
[[nodiscard]] FrameworkRule plain_slices_rule(DTensorsOf of);

/// "from lion_pytorch import Lion\n"; empty where PyTorch has it, or no optimizer is named.
[[nodiscard]] std::string package_import(std::optional<Optimizer> optimizer);
/// "Lion of the package lion-pytorch: PyTorch has none"; empty likewise.
[[nodiscard]] std::string package_sentence(std::optional<Optimizer> optimizer);

}  // namespace plumbline
