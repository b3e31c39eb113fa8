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
    if (!known.quantizes_states) CHECK(row.trainer.starts_with(known.name));
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

TEST_CASE("a framework launches what takes every parameter, in the order of optimizer_table") {
  std::string spellings;
  for (const Launchable<Optimizer>& one : launched_optimizers(OptimizersOf::packages, "SGD(momentum)"))
    spellings += std::string(one.spelling) + " ";
  CHECK(spellings ==
        "SGD SGD(momentum) Adagrad RMSprop Adam AdamW lion_pytorch.Lion Adafactor "
        "bitsandbytes.optim.AdamW8bit bitsandbytes.optim.PagedAdamW8bit ");
  const std::vector<Launchable<Optimizer>> own = launched_optimizers(OptimizersOf::pytorch, "SGD(momentum=0.9)");
  CHECK(own.size() == 7);
  CHECK(own[1].spelling == "SGD(momentum=0.9)");
  CHECK(own[1].source == "torch/optim");
}

TEST_CASE("what takes whole parameters alone is launched where ranks hold whole parameters") {
  const FrameworkRule rule = whole_parameters_rule();
  NetworkFacts network;
  network.optimizer = Optimizer::adafactor;
  Strategy s;
  s.data_parallel = 4;
  CHECK_FALSE(rule.is_broken(s, network));
  s.zero_stage = 1;
  CHECK(rule.is_broken(s, network));
  network.optimizer = Optimizer::adamw;
  CHECK_FALSE(rule.is_broken(s, network));
  network.optimizer = Optimizer::adafactor;
  s.zero_stage = 0;
  s.tensor_parallel = 2;
  CHECK(rule.is_broken(s, network));
}

TEST_CASE("what takes no DTensors is launched where ranks hold none") {
  NetworkFacts network;
  network.optimizer = Optimizer::adamw_8bit;
  Strategy s;
  s.data_parallel = 4;
  for (const DTensorsOf of : {DTensorsOf::tensor_parallel, DTensorsOf::fully_shard}) {
    const FrameworkRule rule = plain_slices_rule(of);
    s.tensor_parallel = 1;
    s.zero_stage = 1;
    CHECK_FALSE(rule.is_broken(s, network));
    s.zero_stage = 3;
    CHECK(rule.is_broken(s, network) == (of == DTensorsOf::fully_shard));
    s.zero_stage = 0;
    s.tensor_parallel = 2;
    CHECK(rule.is_broken(s, network));
  }
  network.optimizer = Optimizer::lion;
  CHECK_FALSE(plain_slices_rule(DTensorsOf::fully_shard).is_broken(s, network));
}

TEST_CASE("a package is imported and named where PyTorch has no class") {
  CHECK(package_import(Optimizer::lion) == "from lion_pytorch import Lion\n");
  CHECK(package_sentence(Optimizer::lion) == "Lion of the package lion-pytorch: PyTorch has none");
  CHECK(package_import(Optimizer::paged_adamw_8bit) == "from bitsandbytes.optim import PagedAdamW8bit\n");
  CHECK(package_import(Optimizer::adamw).empty());
  CHECK(package_sentence(std::nullopt).empty());
}

}  // namespace
}  // namespace plumbline
