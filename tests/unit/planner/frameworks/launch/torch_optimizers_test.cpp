#include "planner/frameworks/launch/torch_optimizers.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("every optimizer has one row, whose constructor is a class of a module") {
  for (const OptimizerFacts& known : optimizer_table) {
    INFO(known.name);
    const TorchOptimizer& row = torch_optimizer_of(known.optimizer);
    CHECK(row.optimizer == known.optimizer);
    CHECK(std::string(row.module()) + "." + std::string(row.class_name()) == row.constructor);
    CHECK(row.trainer.starts_with(known.name));
  }
  CHECK(torch_optimizer_of(Optimizer::adagrad).class_name() == "Adagrad");
  CHECK(torch_optimizer_of(Optimizer::adagrad).module() == "torch.optim");
}

// What a flag begins with is read by the first row that fits.
TEST_CASE("no row's name begins with that of a row before it") {
  for (auto row = torch_optimizers.begin(); row != torch_optimizers.end(); ++row)
    for (auto before = torch_optimizers.begin(); before != row; ++before)
      CHECK_FALSE(to_text(row->optimizer).starts_with(to_text(before->optimizer)));
}

TEST_CASE("a framework launches what takes slices, in the order of optimizer_table") {
  std::string spellings;
  for (const Launchable<Optimizer>& one : launched_optimizers(OptimizersOf::packages, "SGD(momentum)"))
    spellings += std::string(one.spelling) + " ";
  CHECK(spellings == "SGD SGD(momentum) Adagrad RMSprop Adam AdamW lion_pytorch.Lion ");
  const std::vector<Launchable<Optimizer>> own = launched_optimizers(OptimizersOf::pytorch, "SGD(momentum=0.9)");
  CHECK(own.size() == 6);
  CHECK(own[1].spelling == "SGD(momentum=0.9)");
  CHECK(own[1].source == "torch/optim");
}

TEST_CASE("a package is imported and named where PyTorch has no class") {
  CHECK(package_import(Optimizer::lion) == "from lion_pytorch import Lion\n");
  CHECK(package_sentence(Optimizer::lion) == "Lion of the package lion-pytorch: PyTorch has none");
  CHECK(package_import(Optimizer::adamw).empty());
  CHECK(package_sentence(std::nullopt).empty());
}

}  // namespace
}  // namespace plumbline
