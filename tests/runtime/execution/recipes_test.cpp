// Optimizers, number formats, adapters, dropout: one rank's numbers and the predicted bytes, and the same bits twice.
#include <chrono>
#include <thread>

#include "tests/execution_checks.h"
#include "tests/probes.h"
#include "tests/temporary_folder.h"

namespace plumbline::recipes_test {
namespace {

Strategy spread(std::int32_t data, std::int32_t tensor, std::int32_t pipeline, std::int32_t zero = 0) {
  Strategy s = single();
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.pipeline_stages = pipeline;
  s.schedule = pipeline > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.zero_stage = zero;
  s.shard_group = zero > 0 ? data : 1;
  s.micro_batches = 8 / data / s.micro_batch;
  return s;
}

double first_loss_difference(const Executed& a, const Executed& b) {
  return std::abs(a.record.steps.front().loss / b.record.steps.front().loss - 1);
}

TEST_CASE("optimizers start from one rank's gradients, hold the predicted bytes and make the loss fall") {
  for (const Optimizer optimizer : {Optimizer::momentum, Optimizer::adam, Optimizer::adamw, Optimizer::lion,
                                    Optimizer::muon, Optimizer::adafactor}) {
    INFO(to_text(optimizer));
    const bool is_muon = optimizer == Optimizer::muon;
    const LoweredPlan alone(network(Net::llama), single(), recipe(optimizer));
    const LoweredPlan many(network(Net::llama), is_muon ? spread(2, 1, 2) : spread(2, 2, 2, 1), recipe(optimizer));
    const Executed expected = execute(alone.job(), options(4));
    const Executed run = execute(many.job(), options(4));
    require_equal(run.gradients, expected.gradients, 2e-5);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(run.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(2e-3));
    CHECK(run.record.steps.back().loss < run.record.steps.front().loss + 0.05);
    require_bytes(alone, expected.record);
    require_bytes(many, run.record);
  }
}

TEST_CASE("number formats round, hold half, and repeat bit for bit") {
  const Executed exact = execute(LoweredPlan(network(Net::gpt), single(), recipe()).job(), options(1));
  for (const PrecisionRecipe precision : {PrecisionRecipe::tf32, PrecisionRecipe::bf16, PrecisionRecipe::fp16,
                                          PrecisionRecipe::bf16_pure, PrecisionRecipe::fp16_pure}) {
    INFO(to_text(precision));
    Training training = recipe(Optimizer::adamw);
    training.precision = precision;
    const LoweredPlan alone(network(Net::gpt), single(), training);
    const LoweredPlan many(network(Net::gpt), spread(2, 2, 2), training);
    const Executed one = execute(alone.job(), options(3));
    const Executed run = execute(many.job(), options(3));
    const Executed again = execute(many.job(), options(3));
    CHECK(first_loss_difference(one, exact) < 2e-3);
    CHECK(first_loss_difference(run, one) < 2e-3);
    for (std::size_t i = 0; i < run.record.steps.size(); ++i)
      CHECK(run.record.steps[i].loss == again.record.steps[i].loss);
    CHECK(run.weights == again.weights);
    require_bytes(alone, one.record);
    require_bytes(many, run.record);
  }
}

TEST_CASE("fp16 halves its loss scale until gradients are finite, and skips those steps") {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::fp16;
  const LoweredPlan plan(network(Net::llama), spread(2, 1, 2), training);
  TrainingJob job = plan.job();
  job.loss_scale.initial = 4294967296.0;
  const RunRecord record = execute(job, options(24)).record;
  CHECK(record.steps.front().outcome == StepOutcome::skipped);
  CHECK(record.steps.back().outcome == StepOutcome::taken);
}

TEST_CASE("frozen layers and adapters train what is left") {
  for (const bool adapters : {false, true}) {
    Adaptation adaptation;
    if (adapters)
      adaptation.lora_rank = 8;
    else
      adaptation = {true, {{0, 1}}, 0};
    Training training = recipe(Optimizer::adamw);
    training.adaptation = adaptation;
    INFO((adapters ? "adapters" : "frozen layers"));
    const LoweredPlan alone(adapted(network(Net::llama), adaptation), single(), training);
    const Executed expected = execute(alone.job(), options(2));
    require_bytes(alone, expected.record);
    for (const Strategy& s : {spread(2, 1, 2), spread(1, 2, 2)}) {
      INFO(to_text(s));
      const LoweredPlan many(adapted(network(Net::llama), adaptation), s, training);
      const Executed run = execute(many.job(), options(2));
      require_equal(run.gradients, expected.gradients, 2e-5);
      require_bytes(many, run.record);
    }
  }
}

TEST_CASE("dropout drops the same elements under every layout and recompute") {
  const auto net = [] { return gpt({4, 32, 4, 64, 32, Dropout::yes}); };
  const Executed expected = execute(LoweredPlan(net(), single(), recipe()).job(), options(2));
  Strategy replays = spread(2, 2, 2);
  replays.recompute.mode = RecomputeMode::full;
  replays.sequence_parallel = SequenceParallel::on;
  Strategy unfused = spread(2, 1, 1);
  unfused.flash_attention = FlashAttention::off;
  for (const Strategy& s : {spread(2, 1, 1), spread(1, 4, 1), replays, unfused}) {
    INFO(to_text(s));
    const LoweredPlan plan(net(), s, recipe());
    const Executed run = execute(plan.job(), options(2));
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(run.record.steps[i].loss == Approx(expected.record.steps[i].loss).epsilon(1e-5));
    require_equal(run.gradients, expected.gradients, 2e-5);
    require_bytes(plan, run.record);
  }
}

TEST_CASE("Adam is AdamW without decay") {
  const auto weights = [](Optimizer optimizer, float decay) {
    const LoweredPlan plan(network(Net::llama), single(), recipe(optimizer));
    TrainingJob job = plan.job();
    job.optimizer.weight_decay = decay;
    return execute(job, options(3)).weights;
  };
  const WholeTensors adam = weights(Optimizer::adam, 0.1F);
  CHECK(adam == weights(Optimizer::adamw, 0));
  CHECK(adam != weights(Optimizer::adamw, 0.1F));
}

TEST_CASE("each place drops with its own probability") {
  const LoweredPlan without(gpt({2, 32, 4, 64, 32, Dropout::no}), single(), recipe());
  const double plain = execute(without.job(), options(1)).record.steps.front().loss;
  const LoweredPlan plan(gpt({2, 32, 4, 64, 32, Dropout::yes}), single(), recipe());
  const auto loss = [&](DropoutConstants probabilities) {
    TrainingJob job = plan.job();
    job.constants.dropout = probabilities;
    return execute(job, options(1)).record.steps.front().loss;
  };
  CHECK(loss({0, 0, 0}) == plain);
  const double embedding = loss({0.5F, 0, 0});
  const double attention = loss({0, 0.5F, 0});
  const double residual = loss({0, 0, 0.5F});
  for (const double one : {embedding, attention, residual}) CHECK(one != plain);
  CHECK(embedding != attention);
  CHECK(attention != residual);
  CHECK(loss({0, 0, 0.25F}) != residual);
}

TEST_CASE("weights of experts are probabilities where the network says so") {
  const LoweredPlan plan(network(Net::moe), single(), recipe_of(Net::moe));
  TrainingJob job = plan.job();
  const double normalised = execute(job, options(1)).record.steps.front().loss;
  job.constants.expert_weights = ExpertWeights::probability;
  CHECK(execute(job, options(1)).record.steps.front().loss != normalised);
}

TEST_CASE("a smaller buffer, a missing collective and a longer message are noticed") {
  Strategy s = spread(1, 2, 2);
  const LoweredPlan plan(network(Net::llama), s, recipe());
  RunOptions strict = options(1);
  strict.tests.strict_buffers = true;
  SECTION("as lowered") { require_bytes(plan, execute(plan.job(), strict).record); }
  SECTION("a smaller buffer") {
    Program changed = plan.program;
    for (Buffer& buffer : changed.ranks[0].buffers)
      if (buffer.memory_class == MemoryClass::working_buffers) buffer.bytes -= Bytes(4);
    TrainingJob job{plan.graph, plan.strategy, plan.training, changed, {}, plan.job().learning_rate, {}, {}, ""};
    CHECK_THROWS_WITH(execute(job, strict), Catch::Matchers::ContainsSubstring("working_buffers"));
  }
  SECTION("a missing collective") {
    Program changed = plan.program;
    std::vector<Action>& actions = changed.ranks[0].actions;
    const auto found = std::find_if(actions.begin(), actions.end(),
                                    [](const Action& a) { return a.kind() == ActionKind::tensor_collective; });
    std::get<BlockCollective>(found->what).axis = BlockAxis::context;
    TrainingJob job{plan.graph, plan.strategy, plan.training, changed, {}, plan.job().learning_rate, {}, {}, ""};
    RunOptions unpoisoned = options(1);
    unpoisoned.tests.poison = Poison::no;
    CHECK_THROWS_WITH(execute(job, unpoisoned),
                      Catch::Matchers::ContainsSubstring("no tensor-collective of the program is a view"));
  }
  SECTION("a longer message") {
    Program changed = plan.program;
    for (Action& a : changed.ranks[0].actions)
      if (a.kind() == ActionKind::send_forward) std::get<StageMessage>(a.what).bytes += Bytes(64);
    TrainingJob job{plan.graph, plan.strategy, plan.training, changed, {}, plan.job().learning_rate, {}, {}, ""};
    const RunRecord record = execute(job, options(1)).record;
    CHECK(sent_in(record.ranks[0], "pipeline") > planned_on(plan.program.ranks[0], Stream::pipeline));
    CHECK(record.ranks[3].memory.at_peak[MemoryClass::communication_buffers] >
          plan.simulation.memory[1].memory[MemoryClass::communication_buffers]);
  }
}

TEST_CASE("a run that is resumed is the run that was not stopped, bit for bit") {
  Training training = recipe(Optimizer::adamw);
  training.precision = PrecisionRecipe::bf16;
  const LoweredPlan plan(network(Net::llama), spread(2, 2, 2, 1), training);
  const Executed whole = execute(plan.job(), options(4));
  const TemporaryFolder folder;
  RunOptions first = options(2);
  first.checkpoints.folder = folder.path();
  (void)train(plan.job(), first);
  RunOptions second = options(2);
  second.checkpoints.resume = folder.path();
  const RunRecord resumed = train(plan.job(), second);
  REQUIRE(resumed.steps.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(resumed.steps[i].step == whole.record.steps[2 + i].step);
    CHECK(resumed.steps[i].loss == whole.record.steps[2 + i].loss);
    CHECK(resumed.steps[i].gradient_norm == whole.record.steps[2 + i].gradient_norm);
  }
  TrainingJob other = plan.job();
  other.network.fingerprint = "another";
  CHECK_THROWS_AS(train(other, second), InputError);
}

TEST_CASE("gradients are the slope of the loss") {
  // One sequence again and again: a small step of SGD lowers its loss by rate * |gradient|^2.
  for (const Net net : {Net::gpt, Net::llama}) {
    Training training = recipe();
    const LoweredPlan plan(network(net), spread(1, 2, 2), training);
    TrainingJob job = plan.job();
    job.optimizer.weight_decay = 0;
    job.optimizer.clip_norm = 0;
    job.learning_rate.peak = 1e-3;
    RunOptions same = options(2);
    same.data.tokens = same.data.tokens.read(0, 17);
    const RunRecord record = train(job, same);
    const double slope = std::pow(record.steps[0].gradient_norm, 2) * job.learning_rate.peak;
    CHECK(record.steps[0].loss - record.steps[1].loss == Approx(slope).epsilon(0.02));
  }
}

// The rank that hangs goes on when the run is over, and the test: what it touches then outlives both.
TEST_CASE("a rank that hangs is named, with its stage and its action") {
  const LoweredPlan plan(network(Net::llama), spread(1, 2, 2), recipe());
  RunOptions faulty = options(2);
  faulty.ranks.deadline = std::chrono::seconds(2);
  // Longer than others wait for it, but not for ever: a thread that is left behind would read what this test owned.
  static ActionProbe probe([](std::int32_t rank, std::int64_t step, std::int32_t action) {
    if (rank == 1 && step == 1 && action == 3) std::this_thread::sleep_for(std::chrono::seconds(4));
  });
  faulty.tests.probe = &probe;
  CHECK_THROWS_WITH(train(plan.job(), faulty), Catch::Matchers::ContainsSubstring("rank 1 (stage 0) at "));
}

TEST_CASE(
    "a rank that finds a bug of ours says so, with its stage and its action, and is no failure of the environment") {
  const LoweredPlan plan(network(Net::llama), spread(1, 2, 2), recipe());
  RunOptions faulty = options(2);
  ActionProbe probe([](std::int32_t rank, std::int64_t step, std::int32_t action) {
    check(rank != 3 || step != 1 || action != 5, "an operator has its inputs");
  });
  faulty.tests.probe = &probe;
  CHECK_THROWS_AS(train(plan.job(), faulty), InternalError);
  CHECK_THROWS_WITH(train(plan.job(), faulty),
                    Catch::Matchers::ContainsSubstring("rank 3 (stage 1) at ") &&
                        Catch::Matchers::ContainsSubstring("internal check failed: an operator has its inputs") &&
                        Catch::Matchers::ContainsSubstring("; the others were: rank 0"));
}

TEST_CASE("a rank that throws ends the run with one message that names it, its stage and its action") {
  const LoweredPlan plan(network(Net::llama), spread(1, 2, 2), recipe());
  RunOptions faulty = options(2);
  ActionProbe probe([](std::int32_t rank, std::int64_t step, std::int32_t action) {
    if (rank == 3 && step == 1 && action == 5) throw std::runtime_error("no more disk");
  });
  faulty.tests.probe = &probe;
  CHECK_THROWS_WITH(train(plan.job(), faulty), Catch::Matchers::ContainsSubstring("rank 3 (stage 1) at ") &&
                                                   Catch::Matchers::ContainsSubstring("no more disk"));
}

}  // namespace
}  // namespace plumbline::recipes_test
