// A plan and a search in sentences.

#include "planner/present/plan_words.h"

#include "planner/session/search/search_words.h"
#include "tests/catch.h"
#include "tests/sample_plan.h"

namespace plumbline::present {
namespace {

TEST_CASE("a question says model, machine, sequence, batch, tokens and what is not trained") {
  CHECK(question_words(sample_plan()) ==
        "tiny (1.00 M parameters, 900 K active, 800 K trained) on 16 x H100-SXM-80GB (two-boxes), sequence 4096, "
        "global batch 64, 1.00 B tokens, frozen embeddings,layers:0-1,layers:3-3, LoRA rank 16");
}

TEST_CASE("a strategy says what of the precision is chosen by hand, and what is switched off") {
  const Plan plan = sample_plan();
  const std::string text = strategy_words(plan.strategy, plan.training);
  CHECK(text.find(", fp8 with fp32 gradients, muon, no FlashAttention") != std::string::npos);
}

TEST_CASE("a price says its stack, gradients, runs behind it and what its intervals hold") {
  Plan plan = sample_plan();
  CHECK(basis_words(plan) ==
        "stack megatron-core (default: of current releases it was measured nearest), fp32 gradients, calibrated by few "
        "runs, 90 % intervals");
  plan.provenance.stack_is_default = false;
  plan.provenance.trust.regime = "calibrated";
  plan.training.gradient_format.reset();
  plan.training.precision = PrecisionRecipe::bf16;
  CHECK(basis_words(plan) == "stack megatron-core, bf16 gradients, calibrated by many runs, 90 % intervals");
  plan.provenance.trust.regime = "unknown";
  CHECK(basis_words(plan).find(", unknown: calibrated by no run,") != std::string::npos);
}

TEST_CASE("trust says what is unknown, and nothing where many runs were measured nearby") {
  Trust trust;
  trust.regime = "unknown";
  CHECK(trust_words(trust) == "unknown: no run of this device or stack measured");
  trust.regime = "few_rows";
  CHECK(trust_words(trust) == "few runs of this device or stack measured");
  trust.regime = "calibrated";
  CHECK(trust_words(trust).empty());
}

TEST_CASE("a search says for which framework it looks, and why not for the usual one") {
  session::FrameworkChoice choice;
  CHECK(framework_words(choice) == "for any framework");
  choice.lifted = "Megatron-LM has no schedule zbv";
  CHECK(framework_words(choice) == "for any framework: Megatron-LM has no schedule zbv");
  choice = {Framework::megatron_lm, false, "the stack's framework", {}};
  CHECK(framework_words(choice) == "for Megatron-LM: the stack's framework (--for any lifts its limits)");
  choice.is_asked_for = true;
  CHECK(framework_words(choice) == "for Megatron-LM");
}

TEST_CASE("ties and the expected regret are one line") {
  session::SearchAnswer answer;
  answer.plans = {sample_plan(), sample_plan()};
  for (Plan& plan : answer.plans) plan.strategy.context_parallel = 1;
  CHECK(tie_words(answer).empty());
  answer.ties = {8, 4, {}, 0.052, 0.013};
  CHECK(tie_words(answer) ==
        "#1 to #8 are within the model's noise (5.2 %); simplest: #5. Following #1 is expected to cost up to 1.3 % "
        "over the "
        "best of these.");
  answer.ties.tied = 1;
  CHECK(
      tie_words(answer) ==
      "#1 leads by more than the model's noise (5.2 %). Following #1 is expected to cost up to 1.3 % over the best of "
      "these.");
}

TEST_CASE("what nobody published in the first plan is said, with what it gains") {
  session::SearchAnswer answer;
  answer.plans = {sample_plan(), sample_plan()};
  for (Plan& plan : answer.plans) plan.strategy.context_parallel = 1;
  answer.ties = {1, 0, {}, 0.052, 0.013};
  Plan& first = answer.plans.front();
  first.strategy.schedule = Schedule::interleaved;
  first.strategy.virtual_stages = 13;
  answer.plans.back().prediction.step_time_s.expected = 1.02 * first.prediction.step_time_s.expected;
  const std::string words = tie_words(answer);
  CHECK(words.substr(words.find("Unusual")) == "Unusual in #1: 13 virtual stages; without, #2 takes +2.0 %.");
  answer.plans.pop_back();
  answer.plans.push_back(first);
  const std::string all = tie_words(answer);
  CHECK(all.substr(all.find("Unusual")) == "Unusual in #1: 13 virtual stages, as in all of these.");
}

TEST_CASE("trust is said only where measured runs do not carry the prediction") {
  Trust trust;
  trust.regime = "calibrated";
  CHECK(trust_words(trust).empty());
  trust.beyond = {"128 GPUs where at most 64 were measured"};
  CHECK(trust_words(trust) == "outside of what was measured: 128 GPUs where at most 64 were measured");
  trust.regime = "few_rows";
  trust.is_far = true;
  CHECK(trust_words(trust) ==
        "few runs of this device or stack measured; far from anything measured: 128 GPUs where at most 64 were "
        "measured");
}

TEST_CASE("throughput, run and peak are one line each") {
  const Plan plan = sample_plan();
  CHECK(throughput_words(plan) ==
        "1234.5 tokens/s/GPU, MFU 41.0 % (causal 38.0 %), HFU 52.0 %, pipeline bubble 11.0 %");
  CHECK(run_words(plan.run) == "1.5 days, 576 GPU-hours, $1 000, 250 kWh");
  Prediction p;
  p.peak_memory_interval_bytes = {1 << 30, 2147483648., 3221225472.};
  CHECK(peak_words(p) == "2.00 GiB (1.00 to 3.00)");
}

TEST_CASE("a verdict is one of three") {
  CHECK(fit_words(fit_of({.fits = false, .reason = {}})) == "does not fit");
  CHECK(fit_words(fit_of({.fits = true, .reason = {}, .near_edge = true})) == "fits, near the edge");
  CHECK(fit_words(fit_of({.fits = true, .reason = {}})) == "fits");
}

TEST_CASE("choices that change what is learned are named, and what was priced around the best plans") {
  CHECK(quality_words({{PrecisionRecipe::bf16}, {Optimizer::adamw}, {0}}).empty());
  const std::string words = quality_words({{PrecisionRecipe::bf16}, {Optimizer::adamw, Optimizer::muon}, {8, 16}});
  CHECK(words.find("Plans differ in optimizer, LoRA rank, which changes what a model learns") == 0);
  SearchAudit audit;
  CHECK(refinement_words(audit).empty());
  audit.refined = 1234;
  CHECK(refinement_words(audit).find("1 234 more priced around the best of them") == 0);
}

TEST_CASE("an audit sums to what was considered, and each rule says what it refuses") {
  SearchAudit audit;
  audit.total = 1015;
  audit.illegal[std::string(legality_rules().front().id)] = 1000;
  audit.memory = 5;
  audit.solved = 7;
  CHECK(audit_words(audit) ==
        "considered 1 015 = 1 000 illegal + 5 beyond memory + 0 bounded away + 0 dominated + 0 infeasible + 7 priced");
  audit.unvisited = 3;
  CHECK(audit_words(audit).find(" + 3 not looked at") != std::string::npos);
  REQUIRE(rejections(audit).size() == 1);
  CHECK(rejections(audit).front() ==
        std::string(legality_rules().front().id) + " 1 000: " + std::string(legality_rules().front().sentence));
}

}  // namespace
}  // namespace plumbline::present
