// What `plan search --executable` lets through is what the runtime's check accepts and its parameters can be laid out
// for: over networks of the catalogue and random ones, with random recipes and strategies of 1 to 8 ranks.
#include "core/plan/execution_rules.h"

#include "planner/session/launchable.h"
#include "runtime/run/capability_check.h"
#include "tests/catch.h"
#include "tests/parameter_layouts.h"
#include "tests/questions.h"
#include "tests/random_strategies.h"

namespace plumbline {
namespace {

/// As `plan search --executable` asks.
bool is_searched(const NetworkFacts& network, const Training& training, const Strategy& strategy) {
  return inexpressible(Framework::plumbline, training).empty() && !network_problem(Framework::plumbline, network) &&
         launches(record_of(Framework::plumbline), strategy, network);
}

/// What `plan run` says, or "executed".
std::string refusal(const LoweredPlan& plan, const OperatorConstants& constants) {
  TrainingJob job = plan.job();
  job.constants = constants;
  RunOptions options;
  options.data = random_tokens(61, 2000);
  try {
    check_capability(job, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "executed";
}

struct Counts {
  int executed = 0;
  int refused = 0;
  int without_layout = 0;
};

void compare(const NetworkFacts& network, const OperatorConstants& constants, const LoweredPlan& plan, Counts& counts) {
  const std::string words = refusal(plan, constants);
  const bool is_executed = words == "executed";
  CAPTURE(words);
  CHECK(is_searched(network, plan.training, plan.strategy) == is_executed);
  const bool is_laid_out = parameter_layouts(plan).has_value();
  if (is_executed) CHECK(is_laid_out);
  // Whoever cannot be laid out is refused for that, or for something before it.
  if (!is_laid_out) CHECK_FALSE(is_executed);
  ++(is_executed ? counts.executed : counts.refused);
  if (!is_laid_out) ++counts.without_layout;
}

}  // namespace

TEST_CASE("A random network's plan is searched for exactly where its capability check accepts it") {
  const std::int64_t runs = environment_number("PLUMBLINE_RUNS", 150);
  Counts counts;
  for (std::int64_t n = 0; n < runs; ++n) {
    const RandomRun run = random_run(20261124, n);
    CAPTURE(n, text_of(run));
    compare(network_facts(run.graph, {}, run.training), {}, {run.graph, run.strategy, run.training}, counts);
  }
  CHECK(counts.executed >= runs / 3);
  CHECK(counts.refused >= runs / 20);
  CHECK(counts.without_layout >= 1);
}

TEST_CASE("A plan of a catalogue's network is searched for exactly where its capability check accepts it") {
  const std::int64_t questions = environment_number("PLUMBLINE_RUNS", 40);
  Dice dice(20261124);
  Counts counts;
  for (std::int64_t n = 0; n < questions; ++n) {
    QuestionText text = question_text(
        dice.one_of<const char*>({"nano-gpt", "nano-llama", "nano-moe", "nano-moe", "gpt2", "gpt2-medium", "bert-base",
                                  "pythia-70m", "t5-small", "llama-3.2-1b", "gemma-3-270m", "qwen3-0.6b"}),
        "dgx-h100", 8, dice.one_of<std::int64_t>({60, 120, 480, 1440}), 120);
    text.training.precision =
        dice.one_of({PrecisionRecipe::fp32, PrecisionRecipe::bf16, PrecisionRecipe::fp8, PrecisionRecipe::fp16});
    if (dice.one_in(6)) text.stack = "deepspeed-2021-host-checkpoints";
    const Question question(text);
    const NetworkFacts network = session::network_facts_of(question);
    Calibration habits = runtime_calibration();
    habits.stack.features.layer_checkpoints = question.calibration().stack.features.layer_checkpoints;
    RandomStrategies strategies(question.graph(), question.training());
    for (int i = 0; i < 4; ++i) {
      const Strategy s = strategies.next();
      CAPTURE(text.model, text.stack, to_text(text.training.precision), text.training.sequence_length, to_text(s));
      compare(network, question.network().constants, {question.graph(), s, question.training(), habits}, counts);
    }
  }
  CHECK(counts.executed >= questions / 2);
  CHECK(counts.refused >= questions / 2);
}

TEST_CASE("Networks that are not executed are refused by a search for plan run at once, with the reason") {
  const auto refused = [](const char* model, PrecisionRecipe precision) {
    QuestionText text = question_text(model, "this-computer", 2, 128, 8);
    text.training.precision = precision;
    return network_problem(Framework::plumbline, session::network_facts_of(Question(text)));
  };
  CHECK(refused("bert-base", PrecisionRecipe::fp32).has_value());
  CHECK(refused("nano-moe", PrecisionRecipe::fp8).value().what == "plan run: experts in fp8 are not executed");
  CHECK_FALSE(refused("nano-moe", PrecisionRecipe::fp32).has_value());
  CHECK_FALSE(refused("gpt2", PrecisionRecipe::fp8).has_value());
}

TEST_CASE("A vocabulary that tensor-parallel ranks do not divide is refused with its size") {
  const NetworkFacts gpt2 = session::network_facts_of(question_of("gpt2", "this-computer", 4, 128, 8));
  Strategy two;
  two.tensor_parallel = 2;
  CHECK(first_not_executed(two, gpt2).value().what ==
        "input.embedding.weight has 50257 rows or columns, which 2 ranks cannot share");
  CHECK_FALSE(launches(record_of(Framework::plumbline), two, gpt2));
  Strategy v_shaped;
  v_shaped.pipeline_stages = v_shaped.virtual_stages = v_shaped.data_parallel = v_shaped.shard_group = 2;
  v_shaped.schedule = Schedule::zbv;
  v_shaped.zero_stage = 2;
  CHECK_FALSE(launches(record_of(Framework::plumbline), v_shaped, gpt2));
  v_shaped.zero_stage = 1;
  CHECK(launches(record_of(Framework::plumbline), v_shaped, gpt2));
}

}  // namespace plumbline
