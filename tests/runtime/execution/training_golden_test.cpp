// A tiny GPT-2 and a tiny Llama against PyTorch: logits, losses, every gradient, and what ten steps of AdamW leave.
#include "tests/training_golden.h"

namespace plumbline {
namespace {

TEST_CASE("GPT-2 and Llama train as PyTorch trains them, on one rank and on several") {
  for (const std::string name : {"gpt2", "llama"}) {
    const TrainingGolden golden(name);
    for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16})
      for (const Strategy& s :
           {spread(1, 1, 1, 0), spread(1, 2, 2, 0), spread(2, 1, 1, name == "gpt2" ? 1 : 3), spread(2, 1, 2, 3)}) {
        INFO(name << ' ' << to_text(precision) << ": " << to_text(s));
        const Results results = train(golden, golden.network().constants, s, precision);
        REQUIRE(results.size() == golden.below("fp32/").size());
        require_as_pytorch(golden, results, precision);
        // bf16 does round: no run that keeps more digits is taken for one.
        if (precision == PrecisionRecipe::bf16)
          CHECK(miss_ratio(golden, results, precision, "logits") >= 1 / same_order);
      }
  }
}

TEST_CASE("the measure against PyTorch notices another epsilon and another rotary base") {
  const TrainingGolden golden("llama");
  OperatorConstants epsilon = golden.network().constants;
  epsilon.norm_epsilon = 2e-6F;
  OperatorConstants base = golden.network().constants;
  base.rotary_base *= 1.0001;
  for (const OperatorConstants& changed : {epsilon, base}) {
    const Results results = train(golden, changed, spread(1, 1, 1, 0), PrecisionRecipe::fp32);
    for (const std::string key : {"logits", "gradient/layers.0.attention.qkv.q.weight", "losses"}) {
      INFO(key);
      CHECK(miss_ratio(golden, results, PrecisionRecipe::fp32, key) > same_order);
    }
  }
}

}  // namespace
}  // namespace plumbline
