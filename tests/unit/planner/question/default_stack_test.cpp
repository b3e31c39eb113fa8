// Which stack answers a question that names none.

#include "planner/question/default_stack.h"

#include "core/machine/cluster.h"
#include "models/calibration_catalog.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/question/question.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

struct Asked {
  std::string model;
  std::string machine;
  std::int64_t devices = 8;
  std::int64_t sequence = 4096;
  PrecisionRecipe precision = PrecisionRecipe::bf16;
  std::int64_t lora_rank = 0;
};

DefaultStack usual(const Asked& asked) {
  QuestionText text;
  text.model = asked.model;
  text.machine = asked.machine;
  text.devices = asked.devices;
  text.training.global_batch = 1024;
  text.training.sequence_length = asked.sequence;
  text.training.precision = asked.precision;
  text.training.adaptation.lora_rank = asked.lora_rank;
  return Question(text).usual_stack();
}

std::string stack(const Asked& asked) { return usual(asked).taken().stack; }

// What was published of such trainings: NVIDIA's recipes for its GPUs (Megatron-Bridge, dense and mixtures), nanoGPT's
// GPT-2 (PyTorch on 8 A100), adapters by PEFT, images in PyTorch.
TEST_CASE("pre-training of large language models on joined GPUs of NVIDIA is answered by its current releases") {
  CHECK(stack({"llama-3-70b", "dgx-h100", 64, 8192}) == "megatron-bridge-26.06");
  CHECK(stack({"qwen3-30b-a3b", "dgx-h100", 128}) == "megatron-bridge-26.06");
  CHECK(stack({"deepseek-v3", "hgx-h800", 2048, 4096, PrecisionRecipe::fp8_block}) == "megatron-bridge-26.06");
  CHECK(stack({"llama-3-70b", "dgx-a100-80g", 64}) == "megatron-bridge-26.06");
  CHECK(stack({"llama-3.1-405b", "gb200-nvl72", 128, 8192, PrecisionRecipe::mxfp8}) == "megatron-bridge-26.06");
}

TEST_CASE("what those releases do not train is answered by one that does") {
  CHECK(stack({"resnet-50", "dgx-a100-80g", 8, 0}) == "pytorch-2.9");
  CHECK(stack({"bert-large", "dgx-h100", 8, 512}) == "pytorch-2.9");
  CHECK(stack({"flan-t5-xl", "dgx-h100", 8, 512}) == "pytorch-2.9");
  CHECK(stack({"gpt2", "dgx-a100-40g", 8, 1024}) == "pytorch-2.9");
  CHECK(stack({"llama-3.2-1b", "dgx-h100", 1}) == "pytorch-2.9");
  CHECK(stack({"llama-2-7b", "dgx1-v100", 32, 2048, PrecisionRecipe::fp16}) == "deepspeed-2024");
  for (const char* machine : {"mi300x", "mi250x", "rtx4090-pcie", "l40s-pcie"})
    CHECK(usual({"llama-3-8b", machine, 8}).taken().framework != Framework::megatron_bridge);
}

TEST_CASE("adapters are answered as PEFT is launched, whatever the machine") {
  for (const char* machine : {"rtx4090-pcie", "dgx-h100", "mi300x"}) {
    const DefaultStack found = usual({"llama-3.1-8b", machine, 4, 4096, PrecisionRecipe::bf16, 16});
    CHECK(found.taken().framework == Framework::accelerate);
    CHECK_FALSE(found.taken().was_measured);
    CHECK(found.why.find("adapters") != std::string::npos);
  }
}

TEST_CASE("cores run this program's own runtime") {
  const DefaultStack found = usual({"nano-llama", "cpu", 4, 0});
  CHECK(found.taken().stack == own_stack);
  CHECK(found.candidates.size() == 1);
}

TEST_CASE("candidates train the recipe, and what was measured comes first, the surest before all") {
  for (const char* model : {"gpt2", "llama-3-8b", "mixtral-8x7b", "bert-base", "resnet-50"})
    for (const char* machine : {"dgx-h100", "dgx-b200", "dgx-a100-80g", "mi300x", "rtx3090-pcie", "gh200"})
      for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16})
        for (const std::int64_t devices : {1, 3, 5, 6, 8}) {
          if (std::string(machine) == "gh200" && devices > 1) continue;
          CAPTURE(model, machine, devices);
          const DefaultStack found = usual({model, machine, devices, 0, precision});
          REQUIRE_FALSE(found.candidates.empty());
          Training training;
          training.precision = precision;
          for (std::size_t i = 0; i < found.candidates.size(); ++i) {
            const StackCandidate& one = found.candidates[i];
            CHECK(inexpressible(one.framework, training).empty());
            CHECK(one.stack == record_of(one.framework).current_stack);
            if (i == 0) continue;
            const StackCandidate& before = found.candidates[i - 1];
            CHECK(before.was_measured >= one.was_measured);
            if (before.was_measured == one.was_measured) CHECK(before.time_sigma <= one.time_sigma);
          }
        }
}

TEST_CASE("a stack is no nearer to a question beyond its runs") {
  const auto sigma = [](const Asked& asked) {
    for (const StackCandidate& one : usual(asked).candidates)
      if (one.framework == Framework::torchtitan) return one.time_sigma;
    FAIL("torchtitan trains it");
    return 0.0;
  };
  double before = 0;
  for (const std::int64_t devices : {8, 16, 64, 512, 4096}) {
    const double now = sigma({"llama-3-8b", "dgx-b200", devices});
    CHECK(now >= before);
    before = now;
  }
  CHECK(sigma({"llama-3-8b", "dgx-h100", 8}) > sigma({"llama-3-8b", "dgx-b200", 8}));
  CHECK(sigma({"llama-3-8b", "dgx-b200", 8, 131'072}) > sigma({"llama-3-8b", "dgx-b200", 8}));
}

TEST_CASE("a stack that was named is no default, unless it is the same") {
  QuestionText text;
  text.model = "llama-3-70b";
  text.machine = "dgx-h100";
  text.devices = 64;
  text.training.global_batch = 512;
  CHECK(Question(text).has_usual_stack());
  text.stack = "megatron-bridge";  // an alias
  CHECK(Question(text).has_usual_stack());
  text.stack = "torchtitan";
  CHECK_FALSE(Question(text).has_usual_stack());
  CHECK(Question(text).usual_stack().taken().stack == "megatron-bridge-26.06");
}

}  // namespace
}  // namespace plumbline
