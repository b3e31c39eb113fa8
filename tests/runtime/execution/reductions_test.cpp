// Replicas stay equal where data-parallel ranks do not divide what they share, and a reduction that is left out, or
// replicas that differ, end the run.
#include <filesystem>
#include <thread>

#include "runtime/execution/replica_check.h"
#include "tests/execution_checks.h"
#include "tests/temporary_folder.h"

namespace plumbline::reductions_test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// Hidden 84 and an inner width of 100, as a user's own network may have.
Graph odd_llama(bool tied) {
  return llama({.layers = 5,
                .hidden = 84,
                .heads = 4,
                .kv_heads = 4,
                .head_dim = 6,
                .width = 100,
                .vocabulary = 68,
                .tied = tied});
}

Graph odd_gpt() { return gpt({5, 84, 6, 66, 48, Dropout::no}); }

Training recipe_for(const Strategy& s) {
  Training training = recipe();
  training.sequence_length = 24;
  training.global_batch = s.data_parallel * s.micro_batch * s.micro_batches;
  return training;
}

Strategy spread(std::int32_t data, std::int32_t tensor, std::int32_t context, std::int32_t pipeline,
                std::int32_t zero = 0) {
  Strategy s;
  s.data_parallel = data;
  s.tensor_parallel = tensor;
  s.context_parallel = context;
  s.pipeline_stages = pipeline;
  s.schedule = pipeline > 1 ? Schedule::one_f_one_b : Schedule::none;
  s.micro_batches = 2;
  s.zero_stage = zero;
  s.shard_group = zero > 0 ? s.gradient_ranks() : 1;
  return s;
}

RunOptions two_steps(std::int32_t vocabulary = 66) {
  RunOptions o = options(2);
  o.data = random_tokens(vocabulary, 4000);
  return o;
}

void require_as_one_rank(const Graph& graph, const Strategy& s) {
  INFO(graph.name() << ": " << to_text(s));
  const Training training = recipe_for(s);
  Strategy alone;
  alone.micro_batches = training.global_batch;
  const Executed expected = execute(LoweredPlan(graph, alone, training).job(), two_steps());
  const LoweredPlan plan(graph, s, training);
  const Executed run = execute(plan.job(), two_steps());
  for (std::size_t i = 0; i < run.record.steps.size(); ++i)
    CHECK(run.record.steps[i].gradient_norm == Approx(expected.record.steps[i].gradient_norm).epsilon(1e-5));
  require_equal(run.gradients, expected.gradients, 5e-5);
  require_equal(run.weights, expected.weights, 1e-5);
  require_bytes(plan, run.record);
}

TEST_CASE("gradients are summed where data-parallel ranks do not divide a unit's elements") {
  for (const std::int32_t data : sampled(std::vector{3, 5, 6, 7}))
    for (const std::int32_t zero : {0, 1, 2, 3}) require_as_one_rank(odd_llama(false), spread(data, 1, 1, 1, zero));
  require_as_one_rank(odd_gpt(), spread(3, 1, 1, 1));
  require_as_one_rank(odd_gpt(), spread(3, 1, 1, 2, 1));
  require_as_one_rank(odd_gpt(), spread(3, 1, 1, 2, 3));
  require_as_one_rank(odd_llama(true), spread(3, 1, 1, 2, 2));
  require_as_one_rank(odd_llama(false), spread(4, 1, 2, 1));
  require_as_one_rank(odd_llama(false), spread(2, 4, 1, 1));
  Strategy hybrid = spread(6, 1, 1, 1, 3);
  hybrid.shard_group = 2;
  require_as_one_rank(odd_llama(false), hybrid);
}

TEST_CASE("a frozen tied embedding at both ends of a pipeline leaves other gradients alone") {
  const Adaptation frozen{true, {}, 0};
  for (const Graph& network : {odd_gpt(), odd_llama(true)})
    require_as_one_rank(adapted(network, frozen), spread(2, 1, 1, 2));
}

/// A plan whose program lacks what `is_dropped` says.
Executed run_without(const LoweredPlan& plan, const std::function<bool(const Action&)>& is_dropped) {
  Program changed = plan.program;
  for (RankProgram& rank : changed.ranks)
    for (Action& a : rank.actions)
      if (is_dropped(a)) a.what = BlockCollective{};
  const TrainingJob job{plan.graph, plan.strategy, plan.training, changed, {}, plan.job().learning_rate, {}, {}, ""};
  RunOptions unpoisoned = two_steps(64);
  unpoisoned.tests.poison = Poison::no;
  return execute(job, unpoisoned);
}

// Buckets of several units, as other stacks collect them: the third unit's gradients need the first one's buffer.
TEST_CASE("a program that scatters gradients after their buffer is needed ends the run") {
  for (const std::int32_t data : {2, 3, 5}) {
    const Strategy s = spread(data, 1, 1, 1, 2);
    const LoweredPlan plan(odd_llama(false), s, recipe_for(s));
    LoweringInput sizes = plan.sizes;
    for (RankSizes& rank : sizes.ranks) rank.scatter_bucket_share = 1;
    const Program late = lower(sizes);
    const TrainingJob job{plan.graph, plan.strategy, plan.training, late, {}, plan.job().learning_rate, {}, {}, ""};
    CHECK_THROWS_WITH(execute(job, two_steps(68)), ContainsSubstring("no action scatters the gradients of"));
  }
}

TEST_CASE("a step is not taken on gradients that an action should have summed") {
  const auto reduces = [](const Action& a) { return std::holds_alternative<GradientReduction>(a.what); };
  for (const std::int32_t zero : {0, 1, 2, 3}) {
    INFO("ZeRO-" << zero);
    int last = -1;
    const LoweredPlan plan(odd_llama(false), spread(2, 1, 1, 1, zero), recipe_for(spread(2, 1, 1, 1, zero)));
    for (std::size_t i = 0; i < plan.program.ranks[0].actions.size(); ++i)
      if (reduces(plan.program.ranks[0].actions[i]) && plan.program.ranks[0].actions[i].units().count > 0)
        last = static_cast<int>(i);
    const Action& dropped = plan.program.ranks[0].actions[static_cast<std::size_t>(last)];
    CHECK_THROWS_AS(
        run_without(plan, [&](const Action& a) { return reduces(a) && a.units().first == dropped.units().first; }),
        InternalError);
    CHECK_THROWS_WITH(
        run_without(plan, [&](const Action& a) { return reduces(a) && a.units().first == dropped.units().first; }),
        ContainsSubstring("gradients of input") && ContainsSubstring("no step is taken"));
  }
  SECTION("norms under sequence parallelism") {
    Strategy s = spread(1, 2, 1, 1);
    s.sequence_parallel = SequenceParallel::on;
    const LoweredPlan plan(odd_llama(false), s, recipe_for(s));
    const auto is_partial = [](const Action& a) { return std::holds_alternative<PartialSum>(a.what); };
    CHECK_THROWS_WITH(run_without(plan, is_partial), ContainsSubstring("tensor-parallel rank"));
  }
  SECTION("a tied embedding") {
    const Strategy s = spread(1, 1, 1, 2);
    const LoweredPlan plan(odd_llama(true), s, recipe_for(s));
    const auto is_tied = [](const Action& a) { return std::holds_alternative<TiedSum>(a.what); };
    CHECK_THROWS_WITH(run_without(plan, is_tied), ContainsSubstring("tied embedding"));
  }
  SECTION("weights that others have updated") {
    const Strategy s = spread(2, 1, 1, 1, 1);
    const LoweredPlan plan(odd_llama(false), s, recipe_for(s));
    const auto gathers = [](const Action& a) { return std::holds_alternative<ParameterGather>(a.what); };
    CHECK_THROWS_WITH(run_without(plan, gathers), ContainsSubstring("gathered before they are used"));
  }
}

/// A plan of which each rank's second action of a kind has the slot that `changed` makes of its own.
Executed run_with_slot(const LoweredPlan& plan, ActionKind kind, UnitSlot (*changed)(UnitSlot)) {
  Program program = plan.program;
  for (RankProgram& rank : program.ranks) {
    int found = 0;
    for (Action& a : rank.actions)
      if (a.kind() == kind && ++found == 2) {
        UnitSlot& slot = kind == ActionKind::all_gather_parameters ? std::get<ParameterGather>(a.what).slot
                                                                   : std::get<ComputePass>(a.what).gradients;
        slot = changed(slot);
      }
    REQUIRE(found >= 2);
  }
  const TrainingJob job{plan.graph, plan.strategy, plan.training, program, {}, plan.job().learning_rate, {}, {}, ""};
  RunOptions unpoisoned = two_steps(64);
  unpoisoned.tests.poison = Poison::no;
  return execute(job, unpoisoned);
}

TEST_CASE("a unit that the program puts where its neighbour lies, or nowhere, is noticed") {
  const Strategy s = spread(2, 1, 1, 1, 3);
  const LoweredPlan plan(odd_llama(false), s, recipe_for(s));
  CHECK_THROWS_WITH(run_with_slot(plan, ActionKind::all_gather_parameters, other),
                    ContainsSubstring("gathered before it is used"));
  for (const ActionKind kind : {ActionKind::all_gather_parameters, ActionKind::backward})
    CHECK_THROWS_WITH(run_with_slot(plan, kind, [](UnitSlot) { return UnitSlot::none; }),
                      ContainsSubstring("names the slot"));
}

/// Ranks that start from other weights: what no run may do, and none would say.
RunOptions apart(std::int32_t dimensions) {
  RunOptions o = two_steps(64);
  auto first = std::make_shared<std::thread::id>();
  auto mutex = std::make_shared<std::mutex>();
  o.first_weights = [=](const LocalParameter& p, std::int64_t index) {
    const std::scoped_lock lock(*mutex);
    if (*first == std::thread::id()) *first = std::this_thread::get_id();
    const bool is_other = *first != std::this_thread::get_id();
    const float value = 0.01F * static_cast<float>(index % 7);
    return is_other && p.dimensions == dimensions && p.execution == 2 && index == 3 ? value + 0.5F : value;
  };
  return o;
}

/// Nothing, or the file that locks the folder, which stays behind a run.
bool holds_no_checkpoint(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) return true;
  return std::all_of(std::filesystem::directory_iterator(folder), {},
                     [](const auto& entry) { return entry.path().filename() == ".lock"; });
}

TEST_CASE("replicas that differ end the run before a checkpoint of them is written") {
  const auto differs = [](const Graph& graph, const Strategy& s, std::int32_t dimensions) {
    const LoweredPlan plan(graph, s, recipe_for(s));
    const TemporaryFolder folder;
    RunOptions o = apart(dimensions);
    o.checkpoints.folder = folder.path() / "checkpoints";
    CHECK_THROWS_AS(train(plan.job(), o), InternalError);
    CHECK(holds_no_checkpoint(o.checkpoints.folder));
    CHECK_THROWS_WITH(train(plan.job(), apart(dimensions)),
                      ContainsSubstring("layers.1 on rank") && ContainsSubstring("the weights of this run are wrong"));
  };
  differs(odd_llama(false), spread(2, 1, 1, 1), 2);
  differs(odd_llama(false), spread(1, 2, 1, 1), 1);  // a norm, whole on both tensor-parallel ranks
  differs(odd_llama(false), spread(1, 1, 2, 1), 2);
  Strategy hybrid = spread(2, 1, 1, 1);
  hybrid.data_parallel = 4;
  hybrid.zero_stage = 3;
  hybrid.shard_group = 2;
  differs(odd_llama(false), hybrid, 2);
}

TEST_CASE("what ranks hold alike is compared, and what they divide is not") {
  const std::vector<std::string> names{"input", "layers.0"};
  CHECK(unequal_replicas({{{1, 10, 0}, {2, 20, 1}}, {{1, 10, 0}, {3, 30, 1}}}, names).empty());
  CHECK(unequal_replicas({{{1, 10, 0}, {2, 20, 1}}, {{2, 21, 1}}, {{2, 20, 1}}}, names) ==
        "layers.0 on rank 1 is not what it is on rank 0, though they hold copies of it");
  CHECK(unequal_replicas({{{1, 10, 0}}, {{1, 11, 0}}, {{1, 12, 0}}}, names) ==
        "input on ranks 1, 2 is not what it is on rank 0, though they hold copies of it");
}

}  // namespace
}  // namespace plumbline::reductions_test
