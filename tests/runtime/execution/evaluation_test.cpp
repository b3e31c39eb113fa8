// Held-out losses and generated text: the same on every layout, and alongside a step's bytes.
#include "runtime/execution/parameter_init.h"

#include <set>

#include "tests/execution_checks.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

/// Every tenth token is held out; 27 sequences of 16 tokens, of which two global batches are evaluated.
RunOptions evaluating(std::int64_t every = 1) {
  RunOptions o = options(4);
  o.data.held_out = 440;
  o.evaluation.every = every;
  o.evaluation.generation = {{1, 2, 3}, 20, 0.7};  // more than a sequence with the prompt
  return o;
}

std::vector<double> held_out_losses(const RunRecord& record) {
  std::vector<double> losses;
  for (const StepRecord& step : record.steps) losses.push_back(step.held_out_loss.value_or(0));
  return losses;
}

Strategy with(void (*change)(Strategy&)) {
  Strategy s = single();
  change(s);
  s.micro_batches = 8 / s.data_parallel / s.micro_batch;
  if (s.zero_stage > 0) s.shard_group = s.gradient_ranks();
  return s;
}

std::vector<Strategy> layouts() {
  return {with([](Strategy& s) { s.micro_batch = 8; }),
          with([](Strategy& s) { s.data_parallel = 2; }),
          with([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 1; }),
          with([](Strategy& s) { s.data_parallel = 2, s.zero_stage = 2; }),
          with([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 3; }),
          with([](Strategy& s) { s.tensor_parallel = 2; }),
          with([](Strategy& s) { s.tensor_parallel = 4, s.sequence_parallel = SequenceParallel::on; }),
          with([](Strategy& s) { s.context_parallel = 4; }),
          with([](Strategy& s) { s.pipeline_stages = 4, s.schedule = Schedule::one_f_one_b; }),
          with([](Strategy& s) {
            s.pipeline_stages = s.virtual_stages = 2;
            s.schedule = Schedule::interleaved;
          }),
          with([](Strategy& s) {
            s.pipeline_stages = s.virtual_stages = 2;
            s.micro_batch = 1;
            s.schedule = Schedule::dualpipev;
          }),
          with([](Strategy& s) {
            s.data_parallel = s.pipeline_stages = 2;
            s.zero_stage = 3;
            s.schedule = Schedule::one_f_one_b;
            s.recompute.mode = RecomputeMode::full;
          }),
          with([](Strategy& s) {
            s.data_parallel = s.tensor_parallel = s.pipeline_stages = 2;
            s.sequence_parallel = SequenceParallel::on;
            s.schedule = Schedule::zb_h1;
            s.micro_batch = 1;
          })};
}

TEST_CASE("every layout has one rank's held-out losses and writes its text") {
  const Executed alone = execute(LoweredPlan(network(Net::llama), single(), recipe()).job(), evaluating());
  REQUIRE(alone.record.text.generated.size() == 20);
  for (const Strategy& strategy : sampled(layouts())) {
    INFO(to_text(strategy));
    const Executed run = execute(LoweredPlan(network(Net::llama), strategy, recipe()).job(), evaluating());
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(held_out_losses(run.record)[i] == Approx(held_out_losses(alone.record)[i]).epsilon(1e-5));
    CHECK(run.record.text.generated == alone.record.text.generated);
  }
}

TEST_CASE("experts on several ranks evaluate as those on one do") {
  const Executed alone = execute(LoweredPlan(network(Net::moe), single(), recipe_of(Net::moe)).job(), evaluating());
  const Strategy s = with([](Strategy& t) { t.data_parallel = t.expert_parallel = 4; });
  const Executed run = execute(LoweredPlan(network(Net::moe), s, recipe_of(Net::moe)).job(), evaluating());
  CHECK(held_out_losses(run.record).back() == Approx(held_out_losses(alone.record).back()).epsilon(1e-4));
}

TEST_CASE("an evaluation changes neither training nor what a step holds and sends") {
  for (const Strategy& strategy : sampled(layouts())) {
    INFO(to_text(strategy));
    const LoweredPlan plan(network(Net::llama), strategy, recipe());
    RunOptions silent = evaluating();
    silent.evaluation.every = 0;
    silent.evaluation.generation.tokens = 0;
    const Executed with = execute(plan.job(), evaluating());
    const Executed without = execute(plan.job(), silent);
    for (std::size_t i = 0; i < 4; ++i) CHECK(with.record.steps[i].loss == without.record.steps[i].loss);
    REQUIRE(with.weights == without.weights);
    for (std::size_t rank = 0; rank < with.record.ranks.size(); ++rank) {
      CHECK(with.record.ranks[rank].sent == without.record.ranks[rank].sent);
      CHECK(with.record.ranks[rank].memory.at_peak.by_class == without.record.ranks[rank].memory.at_peak.by_class);
    }
  }
}

// The mean over all held-out sequences is that of a training step that has them as its batch and learns nothing. A
// source of one sequence and its targets has one place to train on.
TEST_CASE("a held-out loss is the loss of a step on the same tokens") {
  const LoweredPlan plan(network(Net::gpt), single(), recipe());
  TrainingJob job = plan.job();
  job.learning_rate.peak = 0;
  RunOptions o = options(1);
  o.data = random_tokens(64, 17);
  const std::vector<std::int32_t> once = o.data.tokens.read(0, 17);
  std::vector<std::int32_t> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  o.data.tokens = twice;
  o.data.held_out = 17;
  const RunRecord record = train(job, o);
  REQUIRE(record.steps.back().held_out_loss);
  CHECK(*record.steps.back().held_out_loss == Approx(record.steps.back().loss).epsilon(1e-6));
}

/// Counts the evaluations without improvement that ended runs.
struct EarlyStops : RunObserver {
  void on_early_stop(const EarlyStoppingState& state) override { evaluations += state.without_improvement; }
  std::int64_t evaluations = 0;
};

// At a rate of 0 no held-out loss is lower than the first: evaluated behind steps 2, 4, 6, 8, the run ends with step 6.
TEST_CASE("a run whose held-out loss improves no more ends, on every rank, in one part or in two") {
  for (const Strategy& strategy : {single(), with([](Strategy& s) { s.data_parallel = 4, s.zero_stage = 1; })}) {
    const LoweredPlan plan(network(Net::llama), strategy, recipe());
    TrainingJob job = plan.job();
    job.learning_rate.peak = 0;
    RunOptions o = evaluating(2);
    o.evaluation.generation.tokens = 3;
    o.steps = 20;
    o.evaluation.patience = 2;
    EarlyStops observer;
    o.observer = &observer;
    const RunRecord record = train(job, o);
    CHECK(record.steps.size() == 6);
    CHECK(record.text.generated.size() == 3);
    CHECK(observer.evaluations == 2);

    const TemporaryFolder folder;
    o.checkpoints.folder = folder / "state";
    o.steps = 3;  // its last evaluation is none of the run's
    CHECK(train(job, o).steps.size() == 3);
    o.checkpoints.resume = o.checkpoints.folder;
    o.steps = 20;
    CHECK(train(job, o).steps.size() == 3);
    CHECK(observer.evaluations == 4);
  }
}

TEST_CASE("first weights of zero leave a network that says nothing, and others are learnt from") {
  const LoweredPlan plan(network(Net::llama), single(), recipe());
  std::vector<double> losses;
  for (const Initialisation how : all_initialisations) {
    RunOptions o = options(1);
    o.initialisation = how;
    losses.push_back(train(plan.job(), o).steps[0].loss);
  }
  CHECK(losses[1] == Approx(std::log(64.0)));  // of 64 tokens each is as likely
  CHECK(std::set<double>(losses.begin(), losses.end()).size() == 4);
}

TEST_CASE("a network that has learnt a text by heart writes it, also with logits in 16 bits") {
  for (const PrecisionRecipe precision : {PrecisionRecipe::fp32, PrecisionRecipe::bf16}) {
    Training training = recipe(Optimizer::adamw);
    training.precision = precision;
    LoweredPlan plan(network(Net::llama), single(), training);
    RunOptions o = options(150);
    std::vector<std::int32_t> digits;
    for (std::int32_t i = 0; i < 400; ++i) digits.push_back(i % 10);
    o.data.tokens = digits;
    o.evaluation.generation = {{4, 5, 6}, 12, 0};
    const RunRecord record = train(plan.job(), o);
    CHECK(record.text.generated == std::vector<std::int32_t>{7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8});
  }
}

TEST_CASE("text is drawn by the seed and the temperature") {
  const LoweredPlan plan(network(Net::llama), single(), recipe());
  const auto text = [&](std::uint64_t seed, double temperature) {
    RunOptions o = evaluating();
    o.seed = seed;
    o.first_weights = [](const LocalParameter& p, std::int64_t index) {
      return initial_value(p.starts, 0.02, 1, p.name, index);
    };
    o.steps = 1;
    o.evaluation.generation.temperature = temperature;
    return train(plan.job(), o).text.generated;
  };
  CHECK(text(1, 1.0) == text(1, 1.0));
  CHECK(text(1, 1.0) != text(2, 1.0));
  CHECK(text(1, 1.0) != text(1, 0.0));
}

}  // namespace
}  // namespace plumbline
