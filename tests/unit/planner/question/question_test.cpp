// What a question fills in, and what it refuses.

#include "planner/question/question.h"

#include "core/base/errors.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "planner/pricing/evaluate.h"
#include "planner/pricing/priced.h"
#include "tests/catch.h"

namespace plumbline::question_test {
namespace {

/// Of the question below: GPT-2 is smaller than what Megatron-Bridge has recipes for.
const std::string of_gpt2 = "pytorch-2.9";

QuestionText asked() {
  QuestionText text;
  text.model = "gpt2";
  text.machine = "dgx-h100";
  text.devices = 16;
  text.training.global_batch = 64;
  return text;
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refused(const QuestionText& text) {
  return refusal([&] { Question question(text); });
}
std::string incomplete(const PartialStrategy& partial) {
  const Question question(asked());
  return refusal([&] { static_cast<void>(completed(partial, question)); });
}
std::string illegal(const PartialStrategy& partial) {
  const Question question(asked());
  return refusal([&] { require_legal(completed(partial, question), question); });
}

TEST_CASE("adapters over weights in 16 bits leave torch.autocast nothing to cast, and halve the residual stream") {
  QuestionText text = asked();
  text.stack = "pytorch-2.9";
  const auto casting = [&](const Question& question) {
    return question.calibration().stack.features.mixed_precision != MixedPrecision::of_weights;
  };
  const auto boundary = [&](const Question& question) {
    Strategy s;
    s.data_parallel = 16;
    s.micro_batch = 1;
    s.micro_batches = 4;
    const std::vector<BlockCost> costs = block_costs(question, s);
    return costs[1].boundary;
  };
  const Question full(text);
  CHECK(casting(full));
  text.training.adaptation.lora_rank = 8;
  const Question adapted(text);
  CHECK_FALSE(casting(adapted));
  CHECK_FALSE(casting(adapted.with_calibration(full.calibration())));
  CHECK(boundary(full) == std::int64_t{2} * boundary(adapted));
}

TEST_CASE("another kind of loss is the stack with that value of its axis; its own leaves it as it was measured") {
  QuestionText text = asked();
  text.choices.loss = "fused_linear";
  const Question fused(text);
  CHECK(fused.text().stack == of_gpt2 + "+loss=fused_linear");
  CHECK(fused.text().choices.empty());
  CHECK(fused.calibration().stack.features.head_products == HeadProducts::by_chunks);
  CHECK(Question(fused.text()).text().stack == fused.text().stack);
  text.stack = "pytorch";
  text.choices.loss = "fp32_eager";
  CHECK(Question(text).text().stack == "pytorch");
  text.stack = "pytorch+loss=chunked+attention=unfused";
  CHECK(Question(text).text().stack == "pytorch+attention=unfused");
  text.choices.loss = "cut";
  CHECK(Question(text).text().stack == "pytorch+attention=unfused+loss=cut");
}

TEST_CASE("another overlap is a feature of the stack, which stays as surely measured as it was") {
  QuestionText text = asked();
  const Residuals measured = Question(text).calibration().stack.residuals;
  text.choices.overlap = "none";
  const Question without(text);
  CHECK(without.text().stack == of_gpt2 + "+overlap=none");
  CHECK(without.calibration().stack.features.overlap == CollectiveOverlap::none);
  CHECK(without.calibration().stack.residuals.time.sigma.value == measured.time.sigma.value);
  text.choices.overlap = "reductions";  // what it does anyway
  CHECK(Question(text).text().stack == of_gpt2);
  text.stack = of_gpt2 + "+overlap=none+loss=fused";
  CHECK(Question(text).text().stack == of_gpt2 + "+loss=fused");
}

TEST_CASE("what a stack does is said choice by choice") {
  CHECK(choices_of_stack("megatron-lm-2021").overlap == "none");
  CHECK(choices_of_stack("deepspeed-2024").overlap == "reductions");
  CHECK(choices_of_stack("torchtitan-2026.03").overlap == "both");
  CHECK(choices_of_stack("pytorch+loss=chunked").loss == "chunked");
}

TEST_CASE("a question takes the model's own sequence length and the default stack") {
  const Question question(asked());
  CHECK(question.training().sequence_length == 1024);
  CHECK(!question.text().stack.empty());
  CHECK(question.devices() == 16);
  CHECK(question.capacity() == question.cluster().groups.front().node.device.memory.value);
}

TEST_CASE("FlashAttention is usual where the devices and the stack have it") {
  const auto usual = [](const char* machine, const char* stack, const char* model = "gpt2-large") {
    QuestionText text = asked();
    text.model = model;
    text.machine = machine;
    text.devices = 1;
    text.stack = stack;
    const Question question(text);
    CHECK(completed({}, question).flash_attention == question.usual_flash_attention());
    PartialStrategy given;
    given.flash_attention_given = true;
    CHECK(completed(given, question).flash_attention == FlashAttention::on);
    return question.usual_flash_attention();
  };
  CHECK(usual("dgx-a100-80g", "") == FlashAttention::on);
  CHECK(usual("dgx1-v100", "") == FlashAttention::off);                           // flash-attention begins with Turing
  CHECK(usual("t4-pcie", "") == FlashAttention::off);                             // FlashAttention 2 with Ampere
  CHECK(usual("t4-pcie", "llm-foundry") == FlashAttention::on);                   // FlashAttention 1, heads of 64
  CHECK(usual("t4-pcie", "llm-foundry", "llama-3.1-8b") == FlashAttention::off);  // of 128
  CHECK(usual("dgx-a100-80g", "megatron-lm-2021") == FlashAttention::off);        // before FlashAttention
  CHECK(usual("dgx-a100-80g", "deepspeed-2024") == FlashAttention::on);
}

TEST_CASE("FlashAttention on a device without kernels for it is refused") {
  QuestionText text = asked();
  text.machine = "dgx1-v100";
  text.devices = 1;
  const Question question(text);
  PartialStrategy partial;
  partial.flash_attention_given = true;
  CHECK(refusal([&] {
          require_legal(completed(partial, question), question);
        }).starts_with("strategy, rule R24: FlashAttention, which has no kernels for these devices"));
}

TEST_CASE("a precision without units is refused with the nearest that has them") {
  const auto answer = [](const char* machine, PrecisionRecipe precision) {
    QuestionText text = asked();
    text.machine = machine;
    text.devices = 1;
    text.training.precision = precision;
    return refusal([&] { require_units(Question(text)); });
  };
  CHECK(answer("dgx1-v100", PrecisionRecipe::bf16) ==
        "--precision: bf16 multiplies in bf16, for which V100-SXM2-32GB has no units; expected one of fp32, fp16, "
        "fp16-pure; nearest: fp16");
  CHECK(answer("t4-pcie", PrecisionRecipe::bf16_pure).ends_with("nearest: fp16-pure"));
  CHECK(answer("dgx1-v100", PrecisionRecipe::tf32).ends_with("nearest: fp32"));
  CHECK(answer("dgx1-v100", PrecisionRecipe::fp16) == "accepted");
  CHECK(answer("dgx-a100-80g", PrecisionRecipe::fp8).ends_with("nearest: bf16"));
  CHECK(answer("dgx-a100-80g", PrecisionRecipe::tf32) == "accepted");
  CHECK(usual_precision(find_machine("dgx1-v100")) == PrecisionRecipe::fp16);
  CHECK(usual_precision(find_machine("dgx-a100-80g")) == PrecisionRecipe::bf16);
}

// Weights 2 bytes, gradients 2 or 4: Llama-2 13B at tp 2 holds 6.5 billion of them on a rank, 12.1 GiB more in 32 bits.
TEST_CASE("a question keeps gradients as its stack's framework does, unless it says otherwise") {
  QuestionText text = asked();
  CHECK(Question(text).training().formats().gradient == NumberFormat::fp32);
  text.training.gradient_format = NumberFormat::bf16;
  CHECK(Question(text).training().formats().gradient == NumberFormat::bf16);
  text.training.gradient_format.reset();
  text.stack = "torchtitan";  // its stack says nothing of them, its record does
  CHECK(Question(text).training().formats().gradient == NumberFormat::fp32);
  text.stack = "deepspeed";
  CHECK(Question(text).training().formats().gradient == NumberFormat::bf16);
  text.stack = "megatron-core";
  text.training.precision = PrecisionRecipe::bf16_pure;
  CHECK(Question(text).training().formats().gradient == NumberFormat::bf16);
}

// The question of a user whose plan was said to fit in 72.5 GiB; Megatron's gradients are in 32 bits.
TEST_CASE("Llama-2 13B at tp 2 on 8 H100 does not fit with the gradients of its framework") {
  QuestionText text;
  text.model = "llama-2-13b";
  text.machine = "dgx-h100";
  text.devices = 8;
  text.training.sequence_length = 4096;
  text.training.global_batch = 64;
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 2;
  partial.strategy.zero_stage = 1;
  partial.strategy.micro_batch = 2;
  partial.strategy.sequence_parallel = SequenceParallel::on;
  const auto peak = [&] {
    const Question question(text);
    const Plan plan = evaluate(question, completed(partial, question));
    CHECK(plan.verdict.fits == (text.training.gradient_format == NumberFormat::bf16));
    return plan.prediction.peak_memory;
  };
  CHECK(peak() / 1_GiB == Approx(85.1).epsilon(0.001));
  text.training.gradient_format = NumberFormat::bf16;
  CHECK(peak() / 1_GiB == Approx(72.5).epsilon(0.001));
}

TEST_CASE("a plan of a mixed cluster says which devices there are") {
  Cluster mixed = find_machine("dgx-h100");
  mixed.name = "ours";
  mixed.groups.push_back(find_machine("dgx-a100-80g").groups.front());
  const Question question(asked(), find_network("gpt2"), mixed);
  const Plan plan = evaluate(question, completed({}, question));
  CHECK(plan.machine.devices_text() == "8 x H100-SXM-80GB and 8 x A100-SXM-80GB");
  CHECK(plan.machine.device == "A100-SXM-80GB");
  // All of its devices may be asked for by number, as a plan file does; a part of them may not.
  CHECK(device_count(with_device_count(mixed, 16)) == 16);
  CHECK_THROWS_AS(with_device_count(mixed, 8), InputError);
  CHECK(evaluate(Question(asked()), completed({}, Question(asked()))).machine.devices_text() == "16 x H100-SXM-80GB");
}

TEST_CASE("no device count means one node of a catalogue machine") {
  QuestionText text = asked();
  text.devices = 0;
  CHECK(Question(text).devices() == 8);
}

TEST_CASE("a question refuses numbers out of range") {
  QuestionText text = asked();
  text.training.global_batch = 0;
  CHECK(refused(text) == "global batch: 0 is out of range; expected 1 to 1000000000; nearest: 1");
  text = asked();
  text.training.sequence_length = -5;
  CHECK(refused(text) == "sequence length: -5 is out of range; expected 1 to 100000000; nearest: 1");
  text = asked();
  text.devices = -1;
  CHECK(refused(text) == "gpus: -1 is out of range; expected 1 to 10000000; nearest: 1");
  text = asked();
  text.training.token_budget = 0;
  CHECK(refused(text).starts_with("tokens: 0 is out of range"));
  text = asked();
  text.devices = 12;
  CHECK(refused(text).find("is not a whole number of nodes") != std::string::npos);
  text = asked();
  text.model = "gtp2";
  CHECK(refused(text).find("gpt2") != std::string::npos);
  text = asked();
  text.stack = "megatron-coer";
  CHECK(refused(text).find("megatron-core") != std::string::npos);
}

TEST_CASE("what a strategy leaves open is filled in as documented") {
  const Question question(asked());
  const Strategy alone = completed({}, question);
  CHECK(alone.data_parallel == 16);
  CHECK(alone.micro_batches == 4);
  CHECK(alone.schedule == Schedule::none);
  CHECK(alone.zero_stage == 0);
  CHECK(alone.shard_group == 1);
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 4;
  partial.strategy.micro_batch = 2;
  partial.strategy.zero_stage = 1;
  const Strategy piped = completed(partial, question);
  CHECK(piped.data_parallel == 4);
  CHECK(piped.micro_batches == 8);
  CHECK(piped.schedule == Schedule::one_f_one_b);
  CHECK(piped.shard_group == 4);
  partial.strategy.virtual_stages = 3;
  CHECK(completed(partial, question).schedule == Schedule::interleaved);
  partial.strategy.context_parallel = 2;
  CHECK(completed(partial, question).shard_group == 4);  // dp 2 x cp 2
}

TEST_CASE("what was given is kept") {
  const Question question(asked());
  PartialStrategy partial;
  partial.strategy.pipeline_stages = 2;
  partial.strategy.data_parallel = 2;
  partial.data_parallel_given = true;
  partial.strategy.schedule = Schedule::gpipe;
  partial.schedule_given = true;
  partial.strategy.zero_stage = 2;
  partial.strategy.shard_group = 2;
  partial.shard_group_given = true;
  const Strategy s = completed(partial, question);
  CHECK(s.data_parallel == 2);
  CHECK(s.schedule == Schedule::gpipe);
  CHECK(s.shard_group == 2);
}

TEST_CASE("one rank has nobody to share states with") {
  QuestionText text = asked();
  text.devices = 1;
  PartialStrategy partial;
  partial.strategy.zero_stage = 3;
  const Strategy s = completed(partial, Question(text));
  CHECK(s.zero_stage == 0);
  CHECK(s.shard_group == 1);
}

TEST_CASE("a strategy whose numbers cannot fit together is refused") {
  PartialStrategy partial;
  partial.strategy.tensor_parallel = 3;
  CHECK(incomplete(partial) ==
        "strategy: tp x cp x pp = 3 does not divide 16 GPUs; expected degrees whose product divides the GPU count");
  partial.strategy.tensor_parallel = 32;
  CHECK(incomplete(partial).starts_with("strategy: tp x cp x pp = 32 does not divide 16 GPUs"));
  partial.strategy.tensor_parallel = 1;
  partial.strategy.micro_batch = 3;
  CHECK(incomplete(partial) ==
        "global batch: 64 is not divisible by dp x micro-batch = 48; expected a multiple; nearest: 48");
  partial.strategy.micro_batch = 0;
  CHECK(incomplete(partial).starts_with("strategy: 0 is out of range"));
}

TEST_CASE("an illegal strategy is refused with the rule, its numbers and its sentence") {
  PartialStrategy partial;
  CHECK(illegal(partial) == "accepted");
  partial.strategy.tensor_parallel = 16;
  CHECK(
      illegal(partial).starts_with("strategy, rule R02: tp 16 does not divide the 8 GPUs that share the fast "
                                   "interconnect; expected tensor parallelism stays inside"));
  partial.strategy.tensor_parallel = 8;
  CHECK(illegal(partial).starts_with("strategy, rule R03: 12 attention heads do not divide over tp 8; expected "));
  partial.strategy.tensor_parallel = 1;
  partial.strategy.data_parallel = 4;
  partial.data_parallel_given = true;
  CHECK(illegal(partial).starts_with("strategy, rule R01: tp 1 x cp 1 x pp 1 x dp 4 = 4, not 16 GPUs; expected "));
  partial = {};
  partial.strategy.expert_parallel = 2;
  CHECK(illegal(partial).starts_with("strategy, rule R15: ep 2 for a network without experts; expected "));
}

}  // namespace
}  // namespace plumbline::question_test
