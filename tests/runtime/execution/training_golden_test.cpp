// Tiny networks against PyTorch: logits, losses, every gradient, and what ten steps of AdamW leave.
#include "tests/training_golden.h"

namespace plumbline {
namespace {

// gpt_neox: parallel residual, half of a head turns, exact GELU. llama3: scaled rotary positions. opt: ReLU, positions
// from row 2 on. qwen3: norms of each head, a window in the second layer.
TEST_CASE("networks train as PyTorch trains them, on one rank and on several") {
  for (const std::string name : {"gpt2", "llama", "gpt_neox", "llama3", "opt", "qwen3"}) {
    const TrainingGolden golden(name);
    for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16}) {
      const Responses nearby = precision == PrecisionRecipe::fp32 ? responses(golden) : Responses();
      for (const Strategy& s : {spread(1, 1, 1, 0), spread(1, 2, 2, 0),
                                spread(2, 1, 1, name == "gpt2" || name == "opt" ? 1 : 3), spread(2, 1, 2, 3)}) {
        INFO(name << ' ' << to_text(precision) << ": " << to_text(s));
        const Results results = train(golden, golden.network().constants, s, precision);
        REQUIRE(results.size() == golden.below("fp32/").size());
        require_as_pytorch(golden, results, precision, nearby);
        // bf16 does round: no run that keeps more digits is taken for one.
        if (precision == PrecisionRecipe::bf16)
          CHECK(miss_ratio(golden, results, precision, "logits") >= 1 / same_order);
      }
    }
  }
}

// Weights of experts are not normalised. In bf16 rounding changes which experts are chosen.
TEST_CASE("a network with experts trains as PyTorch trains it, on one rank and on several") {
  const TrainingGolden golden("qwen3_moe");
  const Responses nearby = responses(golden);
  Strategy experts = spread(2, 1, 1, 0);
  experts.expert_parallel = 2;
  Strategy tensors = spread(1, 2, 1, 0);
  tensors.sequence_parallel = SequenceParallel::on;
  for (const Strategy& s : {spread(1, 1, 1, 0), experts, tensors, spread(2, 1, 2, 3)}) {
    INFO(to_text(s));
    const Results results = train(golden, golden.network().constants, s, PrecisionRecipe::fp32);
    REQUIRE(results.size() == golden.below("fp32/").size());
    require_as_pytorch(golden, results, PrecisionRecipe::fp32, nearby);
  }
}

TEST_CASE("the measure against PyTorch notices each constant of an operator") {
  const auto require_noticed = [](const std::string& name, const auto& change) {
    const TrainingGolden golden(name);
    OperatorConstants changed = golden.network().constants;
    change(changed);
    const Results results = train(golden, changed, spread(1, 1, 1, 0), PrecisionRecipe::fp32);
    const Responses nearby = responses(golden);
    for (const std::string key : {"logits", "gradient/layers.0.attention.qkv.q.weight", "losses"}) {
      INFO(name << ' ' << key);
      CHECK(miss_ratio(golden, results, PrecisionRecipe::fp32, key, nearby) > same_order);
    }
  };
  require_noticed("llama", [](OperatorConstants& c) { c.norm_epsilon = 2e-6F; });
  require_noticed("llama", [](OperatorConstants& c) { c.rotary.base *= 1.0001; });
  require_noticed("gpt_neox", [](OperatorConstants& c) { c.activation = Activation::gelu_tanh; });
  require_noticed("gpt_neox", [](OperatorConstants& c) { c.rotary.rotated = 1; });
  require_noticed("llama3", [](OperatorConstants& c) { c.rotary.scaling = RotaryScaling::none; });
  require_noticed("llama3", [](OperatorConstants& c) { c.rotary.scaling = RotaryScaling::linear; });
  require_noticed("opt", [](OperatorConstants& c) { c.activation = Activation::gelu_erf; });
  require_noticed("opt", [](OperatorConstants& c) { c.first_position = 0; });
  require_noticed("qwen3_moe", [](OperatorConstants& c) { c.expert_weights = ExpertWeights::normalised; });
}

}  // namespace
}  // namespace plumbline
