#include "planner/session/question_flags.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::session {
namespace {

QuestionFlags flags() {
  QuestionFlags flags;
  flags.model = "gpt2";
  flags.machine = "dgx-h100";
  flags.global_batch = "64";
  flags.recipes = Recipes::several;
  return flags;
}

std::string refusal_of(const QuestionFlags& flags) {
  try {
    (void)flags.question();
  } catch (const InputError& error) {
    return error.problem().where;
  }
  return "";
}

}  // namespace

TEST_CASE("flags become the question, with the first of several recipes") {
  QuestionFlags asked = flags();
  asked.gpus = "16";
  asked.sequence_length = "2K";
  asked.tokens = "1B";
  asked.precision = "bf16,fp16";
  asked.headroom = "5%";
  const QuestionText text = asked.question();
  CHECK(text.devices == 16);
  CHECK(text.training.sequence_length == 2048);
  CHECK(text.training.global_batch == 64);
  CHECK(text.training.token_budget == 1'000'000'000);
  CHECK(text.training.precision == PrecisionRecipe::bf16);
  CHECK(text.headroom.share == Approx(0.05));
  CHECK(asked.recipe_choices().precisions.size() == 2);
}

TEST_CASE("without a flag the precision is one that the devices have units for") {
  QuestionFlags asked = flags();
  CHECK(asked.question().training.precision == PrecisionRecipe::bf16);
  asked.machine = "dgx1-v100";
  CHECK(asked.question().training.precision == PrecisionRecipe::fp16);
  asked.machine = "t4-pcie";
  CHECK(asked.question().training.precision == PrecisionRecipe::fp16);
  asked.precision = "fp32";
  CHECK(asked.question().training.precision == PrecisionRecipe::fp32);
}

TEST_CASE("a kind of loss is one that stacks distinguish") {
  QuestionFlags asked = flags();
  CHECK(asked.question().choices.empty());
  asked.of_stack[0] = "fused_linear";
  CHECK(asked.question().choices.loss == "fused_linear");
  asked.of_stack[0] = "liger";
  CHECK(refusal_of(asked) == "--loss");
  asked.of_stack = {std::nullopt, "reductions"};
  CHECK(asked.question().choices.overlap == "reductions");
  asked.of_stack[1] = "off";
  CHECK(refusal_of(asked) == "--overlap");
}

TEST_CASE("graphs and the overlap of tensor-parallel collectives are asked in words of their own") {
  QuestionFlags asked = flags();
  asked.of_stack = {std::nullopt, std::nullopt, "layers", "off"};
  CHECK(asked.question().choices.cuda_graphs == "layers");
  CHECK(asked.question().choices.tp_comm_overlap == "off");
  asked.of_stack[2] = "iterations";
  CHECK_THROWS_WITH(asked.question(), Catch::Matchers::ContainsSubstring("--cuda-graphs: found 'iterations'") &&
                                          Catch::Matchers::ContainsSubstring("nearest: iteration"));
  asked.of_stack[2] = std::nullopt;
  asked.of_stack[3] = "none";
  CHECK(refusal_of(asked) == "--tp-comm-overlap");
}

TEST_CASE("targets of adapters are said with a rank") {
  QuestionFlags asked = flags();
  asked.lora_targets = "attention";
  CHECK(refusal_of(asked) == "--lora-targets");
  asked.lora_rank = "16";
  CHECK(asked.question().training.adaptation.lora_targets == LoraTargets::attention);
  asked.lora_targets = "everything";
  CHECK(refusal_of(asked) == "--lora-targets");
}

TEST_CASE("what is wrong is refused by the flag that says it") {
  const std::map<std::string, std::optional<std::string> QuestionFlags::*> each{
      {"--gpus", &QuestionFlags::gpus},
      {"--seq-len", &QuestionFlags::sequence_length},
      {"--global-batch", &QuestionFlags::global_batch},
      {"--tokens", &QuestionFlags::tokens},
      {"--price", &QuestionFlags::price},
      {"--precision", &QuestionFlags::precision},
      {"--optimizer", &QuestionFlags::optimizer},
      {"--lora-rank", &QuestionFlags::lora_rank},
      {"--headroom", &QuestionFlags::headroom}};
  for (const auto& [flag, member] : each) {
    QuestionFlags asked = flags();
    asked.*member = "wrong";
    CHECK(refusal_of(asked) == flag);
  }
  QuestionFlags without_batch = flags();
  without_batch.global_batch = std::nullopt;
  CHECK(refusal_of(without_batch) == "--global-batch");
}

TEST_CASE("several recipes are refused where one is meant") {
  QuestionFlags asked = flags();
  asked.recipes = Recipes::one;
  asked.precision = "bf16,fp16";
  CHECK(refusal_of(asked) == "--precision");
}

}  // namespace plumbline::session
